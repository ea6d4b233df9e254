// SPDX-License-Identifier: Apache-2.0
//
// A mount whose source does not answer: only readers that need the source wait.

#include <cerrno>
#include <thread>

#include "base/log.h"
#include "samplefs/listed_index.h"
#include "samplefs/sample_files.h"
#include "source/failing_source.h"
#include "source/memory_source.h"
#include "test/mount/mount_fixture.h"
#include "test/support/eventually.h"

namespace paddle::test {
namespace {

class DeadSourceTest : public MountTest {
 protected:
  DeadSourceTest() { log::set_level(log::Level::kError); }
  ~DeadSourceTest() override {
    for (const auto node : stuck_) files_.release_reads(node);
    readers_.clear();
    log::set_level(log::Level::kInfo);
  }

  // Files whose reads wait until they are released, one reader each.
  void add_stuck(int count) {
    for (int i = 0; i < count; ++i) {
      stuck_.push_back(files_.add_pattern("stuck/" + std::to_string(i), 8192, kSeed));
      files_.hold_reads(stuck_.back());
    }
  }
  void read_stuck() {
    for (std::size_t i = 0; i < stuck_.size(); ++i) {
      readers_.emplace_back([this, i] {
        const Content content = read_all(point_ / ("stuck/" + std::to_string(i)));
        if (content.bytes == pattern(kSeed, 0, 8192)) ++right_;
      });
    }
  }

  static constexpr std::uint64_t kSeed = 7;
  std::vector<samplefs::NodeId> stuck_;
  std::atomic<std::size_t> right_{0};
  std::vector<std::jthread> readers_;
};

// More than may wait for the source at once, and more than the kernel sends by default to a daemon
// that did not raise max_background.
constexpr int kMany = 200;

TEST_F(DeadSourceTest, AnyNumberOfWaitingReadersDelaysNoCachedFile) {
  add_stuck(kMany);
  for (int i = 0; i < 20; ++i) files_.add_pattern("cached/" + std::to_string(i), 110'000, 2);
  fuse::DataMountOptions options;
  options.session.read_limit = std::chrono::minutes{10};
  start(options);
  const FuseControl control;
  read_stuck();
  ASSERT_TRUE(eventually([&] { return control.waiting(mount_->device()) >= kMany; }));

  std::atomic<int> cached{0};
  std::jthread reader([&] {
    for (int i = 0; i < 20; ++i) {
      const Content content = read_all(point_ / ("cached/" + std::to_string(i)));
      if (content.bytes == pattern(2, 0, 110'000)) ++cached;
    }
  });
  EXPECT_TRUE(eventually([&] { return cached == 20; })) << cached << " of 20 files were read";
  EXPECT_EQ(right_, 0u) << "the source is still dead";

  for (const auto node : stuck_) files_.release_reads(node);
  readers_.clear();
  EXPECT_EQ(right_, stuck_.size()) << "those who waited are answered";
}

TEST_F(DeadSourceTest, AReaderWaitsUntilTheDeadlineAndNoLonger) {
  add_stuck(3);
  fuse::DataMountOptions options;
  options.session.read_limit = std::chrono::milliseconds{200};
  start(options);
  for (int i = 0; i < 3; ++i) {
    const Content content = read_all(point_ / ("stuck/" + std::to_string(i)));
    EXPECT_EQ(content.error, ETIMEDOUT);
    EXPECT_EQ(content.bytes, "");
  }
  for (const auto node : stuck_) files_.release_reads(node);
  EXPECT_EQ(read_all(point_ / "stuck/0").bytes, pattern(kSeed, 0, 8192)) << "nothing of it stays";
}

// The kernel reads ahead first; when that fails, it requests a single page.
TEST_F(DeadSourceTest, TheSecondRequestOfTheKernelGetsTheErrorOfTheFirst) {
  source::MemorySource memory;
  memory.put("f", pattern(kSeed, 0, 100'000));
  std::atomic<int> asked = 0;
  source::FailingSource failing(
      memory, [&](source::FaultPoint point, std::string_view) -> std::optional<Error> {
        if (point != source::FaultPoint::kBeforeRead) return {};
        if (++asked > 1) return {};
        return Error{Code::kDeadline, "no answer in time"};
      });
  const ScratchDir scratch;
  const auto index = samplefs::sync_index(memory, scratch.path() + "/index", 1, {});
  ASSERT_TRUE(index) << index.error().message;
  ManualClock clock;
  samplefs::ReadThrough data(nullptr, failing, samplefs::ReadThrough::kRecentBytes, clock);
  samplefs::SampleFiles files(*index, data);
  auto mount = fuse::DataMount::start(point_.path(), files, metrics_);
  ASSERT_TRUE(mount) << mount.error().message;
  EXPECT_EQ(read_all(point_ / "f").error, ETIMEDOUT);
  EXPECT_EQ((*mount)->session().counters().errors(FUSE_READ), 2u);
  EXPECT_EQ(asked, 1);
  clock.advance(samplefs::RecentFailures::kKept);
  EXPECT_EQ(read_all(point_ / "f").bytes, pattern(kSeed, 0, 100'000));
}

}  // namespace
}  // namespace paddle::test
