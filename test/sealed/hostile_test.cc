// SPDX-License-Identifier: Apache-2.0
//
// Indexes, slots and segments that a runtime made to harm: the build refuses them with a sentence,
// and leaves nothing: no mount, no file, no flag.

#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sealed/immutable.h"
#include "test/sealed/sealed_fixture.h"
#include "test/support/process.h"

namespace paddle::test {
namespace {

namespace fs = std::filesystem;

class HostileCache : public SealedTest {
 protected:
  void SetUp() override {
    SealedTest::SetUp();
    cache_.add_samples(10, 9000);
    cache_.write();
  }
  // What the refusal says; fails when there is none, or something is left.
  std::string refused(sealed::ViewRequest request) {
    const int before = count_views();
    auto view = sealed::SealedView::seal(request, path("view"), holds_, random_, {});
    EXPECT_FALSE(view) << "a view was made";
    EXPECT_EQ(count_views(), before);
    EXPECT_EQ(holds_.held(), 0u);
    EXPECT_TRUE(fs::is_empty(cache_.images()));
    for (const auto& entry : fs::directory_iterator(cache_.cache())) {
      const UniqueFd fd(
          ::open(entry.path().c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
      const auto flag = fd ? sealed::is_immutable(fd.get()) : Result<bool>(false);
      EXPECT_FALSE(flag && *flag) << entry.path();
    }
    return view ? "" : view.error().message;
  }
  // With the slot of one block changed.
  std::string refused_slot(const std::function<void(sealed::SegmentExtent&)>& change) {
    auto& slot = cache_.extents.begin()->second;
    const auto good = slot;
    change(slot);
    const std::string why = refused(cache_.request());
    slot = good;
    return why;
  }
};

TEST_F(HostileCache, SlotsThatLeadAnywhereElseAreRefused) {
  using Extent = sealed::SegmentExtent;
  EXPECT_NE(refused_slot([](Extent& e) { e.offset = std::uint64_t{1} << 40; }), "");
  EXPECT_NE(refused_slot([](Extent& e) { e.offset = ~std::uint64_t{0} - 4095; }), "");
  EXPECT_NE(refused_slot([](Extent& e) { e.offset += 1; }), "");
  EXPECT_NE(refused_slot([](Extent& e) { e.segment = 1; }), "");
  EXPECT_NE(refused_slot([](Extent& e) { e.segment = 0xFFFFFFFF; }), "");
  EXPECT_NE(refused_slot([](Extent& e) { e.length += 1; }), "");
  EXPECT_NE(refused_slot([](Extent& e) { e.length = ~std::uint64_t{0}; }), "");
  EXPECT_NE(refused_slot([](Extent& e) { e.checksum += 1; }), "");
  EXPECT_NE(refused_slot([](Extent& e) { e.offset += 4096; }), "") << "another sample's bytes";
  EXPECT_TRUE(seal()) << "and what is good is sealed";
}

TEST_F(HostileCache, ABlockThatIsMissingMeansThatTheSetIsNotComplete) {
  auto request = cache_.request();
  request.locate = [](const samplefs::Block&) { return std::nullopt; };
  auto view = sealed::SealedView::seal(request, path("view"), holds_, random_, {});
  EXPECT_TRUE(view.is(Code::kNotFound));
  EXPECT_EQ(holds_.held(), 0u);
}

TEST_F(HostileCache, SegmentsThatAreLinksOrPipesOrSomebodyElsesAreRefused) {
  const std::string segment = cache_.segment_path(0);
  fs::rename(segment, path("elsewhere"));
  fs::create_symlink(path("elsewhere"), segment);
  EXPECT_NE(refused(cache_.request()), "");
  fs::remove(segment);
  fs::create_hard_link(path("elsewhere"), segment);
  EXPECT_NE(refused(cache_.request()), "");
  fs::remove(segment);
  ASSERT_EQ(::mkfifo(segment.c_str(), 0600), 0);
  EXPECT_NE(refused(cache_.request()), "");
  fs::remove(segment);
  EXPECT_NE(refused(cache_.request()), "") << "it is missing";
  fs::rename(path("elsewhere"), segment);
  auto request = cache_.request();
  request.owner = ::getuid() + 1;
  EXPECT_NE(refused(request), "");
  request = cache_.request();
  request.tiers = {-1};
  EXPECT_NE(refused(request).find("tier"), std::string::npos);
  request.tiers = {};
  EXPECT_NE(refused(request).find("tier"), std::string::npos);
  request = cache_.request();
  request.max_segments = 0;
  EXPECT_NE(refused(request), "");
}

TEST_F(HostileCache, ASegmentThatIsTruncatedDuringTheBuildIsRefused) {
  auto request = cache_.request();
  int located = 0;
  request.locate = [&, locate = request.locate](const samplefs::Block& block) {
    // The runtime tries it in the middle; the segment is immutable by now.
    if (++located == 5) {
      EXPECT_LT(::truncate(cache_.segment_path(0).c_str(), 4096), 0);
    }
    return locate(block);
  };
  EXPECT_TRUE(sealed::SealedView::seal(request, path("view"), holds_, random_, {}));
  ASSERT_EQ(::truncate(cache_.segment_path(0).c_str(), 4096), 0);
  EXPECT_NE(refused(cache_.request()), "") << "before the build";
}

TEST_F(HostileCache, HolesAndTailsThatAreNotZeroAreRefused) {
  const UniqueFd fd(::open(cache_.segment_path(0).c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::pwrite(fd.get(), "x", 1, 9000), 1);  // behind the first sample
  EXPECT_NE(refused(cache_.request()).find("zeros"), std::string::npos);
  ASSERT_EQ(::pwrite(fd.get(), "\0", 1, 9000), 1);
  ASSERT_EQ(::fallocate(fd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096, 4096), 0);
  EXPECT_NE(refused(cache_.request()).find("hole"), std::string::npos);
}

TEST_F(HostileCache, AnIndexThatIsDamagedOrALinkIsRefused) {
  const std::string file = cache_.cache() + "/index";
  const std::string good = read_file(file);
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}, good.size() - 1}) {
    ASSERT_TRUE(write_file(file, good.substr(0, size)));
    EXPECT_NE(refused(cache_.request()), "") << size;
  }
  for (std::size_t at = 0; at < good.size(); at += good.size() / 40 + 1) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x40);
    ASSERT_TRUE(write_file(file, bad));
    EXPECT_NE(refused(cache_.request()), "") << at;
  }
  fs::remove(file);
  ASSERT_TRUE(write_file(path("elsewhere"), good));
  fs::create_symlink(path("elsewhere"), file);
  EXPECT_NE(refused(cache_.request()), "");
}

TEST_F(HostileCache, AnImageThatWouldBeTooLargeIsRefused) {
  auto request = cache_.request();
  request.max_image_bytes = 4096;
  EXPECT_NE(refused(request).find("limit"), std::string::npos);
  request = cache_.request();
  request.limits.bytes = 1000;
  EXPECT_NE(refused(request), "");
  request = cache_.request();
  request.max_index_bytes = 100;
  EXPECT_NE(refused(request), "");
}

}  // namespace
}  // namespace paddle::test
