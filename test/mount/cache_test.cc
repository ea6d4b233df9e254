// SPDX-License-Identifier: Apache-2.0
//
// What the kernel caches: correct answers, never failed ones.

#include <cerrno>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

#include "base/log.h"
#include "base/random.h"
#include "test/mount/mount_fixture.h"

namespace paddle::test {
namespace {

class CacheTest : public MountTest {
 protected:
  CacheTest() { log::set_level(log::Level::kError); }
  ~CacheTest() override { log::set_level(log::Level::kInfo); }

  void read_tree(int files) {
    for (const auto& name : list(point_.path())) ASSERT_NE(name, "errno 5");
    for (int i = 0; i < files; ++i) {
      const auto seed = static_cast<std::uint64_t>(i);
      ASSERT_EQ(read_all(point_ / std::to_string(i)).bytes, pattern(seed, 0, 110'000)) << i;
    }
  }
};

// The kernel may take back a page at any time and read it again: one epoch of a few must be silent.
constexpr int kTries = 10;

TEST_F(CacheTest, ASecondEpochSendsNoRequestToTheDaemon) {
  for (int i = 0; i < 100; ++i) {
    files_.add_pattern(std::to_string(i), 110'000, static_cast<std::uint64_t>(i));
  }
  start();
  read_tree(100);
  EXPECT_EQ(counters().read_bytes(), 100u * 110'000) << "no byte is fetched twice";
  bool silent = false;
  for (int i = 0; i < kTries && !silent; ++i) {
    const auto before = counters().all_requests();
    read_tree(100);
    silent = counters().all_requests() == before;
  }
  if (mount_->agreed().no_open() && mount_->agreed().no_opendir()) {
    EXPECT_TRUE(silent);
    EXPECT_LE(counters().requests(FUSE_OPEN), 1u);
    EXPECT_LE(counters().requests(FUSE_OPENDIR), 1u);
    EXPECT_LE(counters().requests(FUSE_FLUSH), 1u);
  }
}

TEST_F(CacheTest, PlainOpensReadTheSameAndKeepThePages) {
  for (int i = 0; i < 20; ++i) {
    files_.add_pattern(std::to_string(i), 110'000, static_cast<std::uint64_t>(i));
  }
  fuse::DataMountOptions options;
  options.session.init_options.no_open = false;  // what an older kernel gets
  start(options);
  EXPECT_FALSE(mount_->agreed().no_open());
  read_tree(20);
  bool kept = false;
  for (int i = 0; i < kTries && !kept; ++i) {
    const auto bytes = counters().read_bytes();
    const auto opens = counters().requests(FUSE_OPEN);
    read_tree(20);
    EXPECT_EQ(counters().requests(FUSE_OPEN), opens + 20);
    kept = counters().read_bytes() == bytes;
  }
  EXPECT_TRUE(kept);
}

TEST_F(CacheTest, ConcurrentReadersSeeOnlyCorrectBytes) {
  for (int i = 0; i < 64; ++i) {
    files_.add_pattern(std::to_string(i), 110'000, static_cast<std::uint64_t>(i));
  }
  start();
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> readers;
    for (std::uint64_t reader = 0; reader < 8; ++reader) {
      readers.emplace_back([&, reader] {
        Random random(reader);
        for (int i = 0; i < 100; ++i) {
          const std::uint64_t seed = random.below(64);
          const std::string path = point_ / std::to_string(seed);
          if (i % 10 == 0) drop_page_cache(path);
          if (read_all(path).bytes != pattern(seed, 0, 110'000)) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(CacheTest, AFailedReadIsNotCached) {
  constexpr std::size_t kSize = 500'000;
  const auto id = files_.add_pattern("f", kSize, 5);
  start();
  const std::string path = point_ / "f";
  for (const Code code : {Code::kUnavailable, Code::kDeadline, Code::kForbidden}) {
    files_.fail_reads(id, code);
    const Content failed = read_all(path);
    EXPECT_NE(failed.error, 0);
    EXPECT_EQ(failed.bytes, "");
    files_.fail_reads(id, std::nullopt);
    EXPECT_EQ(read_all(path).bytes, pattern(5, 0, kSize));
    drop_page_cache(path);
  }
  files_.fail_reads(id, Code::kUnavailable);
  EXPECT_EQ(read_all(path).error, EIO);
}

TEST_F(CacheTest, AShortReadCannotCutAFile) {
  constexpr std::size_t kSize = 300'000;
  const auto id = files_.add_pattern("f", kSize, 5);
  start();
  files_.cut_reads(id, true);
  EXPECT_EQ(read_all(point_ / "f").error, EIO);
  files_.cut_reads(id, false);
  EXPECT_EQ(read_all(point_ / "f").bytes, pattern(5, 0, kSize));
}

TEST_F(CacheTest, AnAbsentNameIsLookedUpOnce) {
  files_.add_file("f", "x");
  start();
  EXPECT_EQ(stat_error(point_ / "absent"), ENOENT);
  const auto asked = counters().requests(FUSE_LOOKUP);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(stat_error(point_ / "absent"), ENOENT);
  EXPECT_EQ(counters().requests(FUSE_LOOKUP), asked);

  ASSERT_TRUE(mount_->session().channel().invalidate_entry(samplefs::kRootId, "absent"));
  EXPECT_EQ(stat_error(point_ / "absent"), ENOENT);
  EXPECT_EQ(counters().requests(FUSE_LOOKUP), asked + 1);
  EXPECT_TRUE(mount_->session().channel().invalidate_entry(samplefs::kRootId, "never seen"));
}

TEST_F(CacheTest, SlowReadsDelayNothingElse) {
  const auto slow = files_.add_pattern("slow", 4096, 1);
  for (int i = 0; i < 20; ++i) files_.add_pattern("other/" + std::to_string(i), 110'000, 2);
  fuse::DataMountOptions options;
  options.session.max_misses = 4;
  options.session.spare_threads = 1;
  start(options);
  files_.hold_reads(slow);
  {
    // One request of the kernel per page at most, so several files would be needed to fill the
    // places; direct reads are one request each.
    std::vector<std::jthread> readers;
    std::atomic<int> right{0};
    for (int i = 0; i < 3; ++i) {
      readers.emplace_back([&] {
        const UniqueFd fd(::open((point_ / "slow").c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
        std::string got(4096, '\0');
        if (::pread(fd.get(), got.data(), 4096, 0) == 4096 && got == pattern(1, 0, 4096)) ++right;
      });
    }
    while (files_.held() < 3) std::this_thread::yield();
    EXPECT_EQ(list(point_ / "other").size(), 20u);
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(read_all(point_ / ("other/" + std::to_string(i))).bytes, pattern(2, 0, 110'000));
    }
    // All slots for reads are taken: names and attributes are still answered.
    for (int i = 0; i < 6; ++i) {
      readers.emplace_back([&] {
        const UniqueFd fd(::open((point_ / "slow").c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
        std::string got(4096, '\0');
        if (::pread(fd.get(), got.data(), 4096, 0) == 4096) ++right;
      });
    }
    while (files_.held() < 4) std::this_thread::yield();
    for (int i = 0; i < 50; ++i) {
      EXPECT_EQ(stat_error(point_ / ("other/absent" + std::to_string(i))), ENOENT);
    }
    files_.release_reads(slow);
    readers.clear();
    EXPECT_EQ(right, 9);
  }
}

}  // namespace
}  // namespace paddle::test
