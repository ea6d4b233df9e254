// SPDX-License-Identifier: Apache-2.0
//
// A view of what the real store has written, found by the reader that does not trust its owner.

#include "samplefs/store/store.h"

#include <map>
#include <set>

#include <unistd.h>

#include "samplefs/index_builder.h"
#include "samplefs/store/format.h"
#include "samplefs/store/store_reader.h"
#include "test/sealed/sealed_fixture.h"

namespace paddle::test {
namespace {

class ViewOfAStore : public SealedTest {
 protected:
  void SetUp() override {
    SealedTest::SetUp();
    auto store =
        samplefs::Store::open({.directory = path("store"), .limit = std::uint64_t{1} << 30});
    ASSERT_TRUE(store) << store.error().message;
    store_ = *std::move(store);
    tier_ = *sealed::open_directory(path("store"));
    for (int i = 0; i < 40; ++i) {
      put("class/" + std::to_string(i),
          sample_bytes(static_cast<std::uint64_t>(i), 1 + static_cast<std::size_t>(i) * 7919));
    }
    put("big", sample_bytes(77, 9'000'000));
    samplefs::IndexBuilder builder;
    for (const auto& [name, bytes] : files_) {
      ASSERT_TRUE(builder.add({.path = name, .size = bytes.size(), .etag = "e", .modified = {}}));
    }
    ASSERT_TRUE(builder.write(path("index"), 3));
    directory_ = *sealed::open_directory(scratch_.path());
    make_directory("images");
  }
  void put(const std::string& name, const std::string& bytes) {
    for (std::uint64_t at = 0; at < bytes.size(); at += samplefs::kBlockSize) {
      const auto block = samplefs::block_at(name, "e", bytes.size(), at);
      ASSERT_TRUE(store_->put(block, std::as_bytes(std::span(bytes).subspan(
                                         at, static_cast<std::size_t>(block.length)))));
    }
    files_[name] = bytes;
  }
  sealed::ViewRequest request() {
    sealed::ViewRequest request;
    request.index = {directory_.get(), "index"};
    request.tiers = {tier_.get()};
    request.owner = ::getuid();
    request.locate = [this](const samplefs::Block& block) { return reader_.locate(block); };
    request.checksum = [](std::span<const std::byte> data) {
      return samplefs::block_checksum(data);
    };
    request.image_directory = path("images");
    return request;
  }
  // The segments of all blocks.
  std::vector<samplefs::SegmentId> segments() {
    std::set<samplefs::SegmentId> all;
    for (const auto& [name, bytes] : files_) {
      for (std::uint64_t at = 0; at < bytes.size(); at += samplefs::kBlockSize) {
        all.insert(store_->locate(samplefs::block_at(name, "e", bytes.size(), at))->segment);
      }
    }
    return {all.begin(), all.end()};
  }
  int wrong(const std::string& root) {
    int count = 0;
    for (const auto& [name, bytes] : files_) {
      drop_cache_of(root + "/" + name);
      if (read_all(root + "/" + name).bytes != bytes) ++count;
    }
    return count;
  }

  std::unique_ptr<samplefs::Store> store_;
  samplefs::StoreReader reader_{{path("store")}};
  UniqueFd tier_;
  UniqueFd directory_;
  std::map<std::string, std::string> files_;
};

TEST_F(ViewOfAStore, ShowsEveryByteAndGoesOnWhenTheStoreIsFilledClearedAndClosed) {
  ASSERT_TRUE(store_->flush());
  const auto sealed_segments = segments();
  store_->seal(sealed_segments);
  auto view = sealed::SealedView::seal(request(), path("view"), holds_, random_, {});
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_EQ(wrong((*view)->point()), 0);
  EXPECT_EQ((*view)->generation(), 3u);

  // The store goes on in other segments.
  const std::string later = sample_bytes(500, 20'000);
  const auto block = samplefs::block_at("later", "e", later.size(), 0);
  EXPECT_TRUE(store_->put(block, std::as_bytes(std::span(later))));
  std::string back(later.size(), '\0');
  EXPECT_TRUE(store_->read(block, 0, std::as_writable_bytes(std::span(back))));
  EXPECT_EQ(back, later);

  store_->clear();
  store_->upkeep();
  EXPECT_EQ(wrong((*view)->point()), 0) << "cleared, but a view shows it";
  store_.reset();
  EXPECT_EQ(wrong((*view)->point()), 0) << "no process has the store open";
  ASSERT_TRUE((*view)->end());
}

TEST_F(ViewOfAStore, ASetThatIsNotCompleteIsNotSealed) {
  const auto block = samplefs::block_at("class/7", "e", files_["class/7"].size(), 0);
  store_->drop_all({block.key});
  ASSERT_TRUE(store_->flush());
  const auto view = sealed::SealedView::seal(request(), path("view"), holds_, random_, {});
  EXPECT_TRUE(view.is(Code::kNotFound));
  EXPECT_EQ(holds_.held(), 0u);
}

}  // namespace
}  // namespace paddle::test
