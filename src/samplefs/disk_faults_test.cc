// SPDX-License-Identifier: Apache-2.0
//
// Disks of a cache that are full, broken, read-only or gone, as readers see them: every byte is
// right, the status tells, caching goes on when the disk works again, and nothing is downloaded
// twice. What the store does with each call that fails is in store/faults_test.cc.
#include <array>
#include <cerrno>
#include <cstring>

#include <gtest/gtest.h>

#include "base/log.h"
#include "samplefs/read_through.h"
#include "samplefs/store/memory_files.h"
#include "source/memory_source.h"

namespace paddle::samplefs {
namespace {

using Call = MemoryFiles::Call;
using Filled = ReadThrough::Filled;

class DiskFaultsTest : public testing::Test {
 protected:
  static constexpr std::size_t kFiles = 8;
  static constexpr std::size_t kSize = 5000;

  DiskFaultsTest() {
    log::set_level(log::Level::kError);
    for (std::size_t i = 0; i < kFiles; ++i) {
      names_[i] = "file" + std::to_string(i);
      etags_[i] = "v" + std::to_string(i + 1);
      while (bytes_[i].size() < kSize) bytes_[i] += names_[i] + ",";
      bytes_[i].resize(kSize);
      source_.put(names_[i], bytes_[i]);
    }
  }
  ~DiskFaultsTest() override { log::set_level(log::Level::kInfo); }

  Block block(std::size_t file) const { return block_at(names_[file], etags_[file], kSize, 0); }
  // In pieces, as the kernel does.
  void expect_read(std::size_t file) {
    std::string all;
    for (std::size_t at = 0; at < kSize; at += 1000) {
      std::string into(1000, '?');
      const auto done = data_.read(block(file), at, std::as_writable_bytes(std::span(into)), {});
      ASSERT_TRUE(done) << done.error().message;
      all += into;
    }
    EXPECT_EQ(all, bytes_[file]);
  }
  Filled fill(std::size_t file) {
    const auto filled = data_.fill(block(file), {});
    EXPECT_TRUE(filled);
    return filled ? *filled : Filled::kNoRoom;
  }
  bool cached(std::size_t file) const { return store_->holds(block(file)); }
  std::string condition() const { return store_->stats().degraded; }
  // Everything that changes the disk fails.
  void refuse_changes(int number) {
    files_.fault(
        [number](Call call, const std::string&) { return call == Call::kRead ? 0 : number; });
  }

  ManualClock clock_;
  MemoryFiles files_;
  source::MemorySource source_;
  std::array<std::string, kFiles> names_{};
  std::array<std::string, kFiles> etags_{};
  std::array<std::string, kFiles> bytes_{};
  std::unique_ptr<Store> store_ = *Store::open(
      {.directory = "cache", .limit = 8 << 20, .segment_bytes = 64 << 10}, clock_, files_);
  ReadThrough data_{store_.get(), source_, ReadThrough::kRecentBytes, clock_};
};

TEST_F(DiskFaultsTest, ADiskThatRefusesChangesIsReadThroughUntilItTakesThem) {
  for (const int number : {ENOSPC, EIO, EPERM, EROFS}) {
    SCOPED_TRACE(std::strerror(number));
    store_->clear();
    const auto before = source_.reads();
    expect_read(0);
    ASSERT_TRUE(cached(0));
    refuse_changes(number);
    expect_read(1);
    EXPECT_NE(condition().find(std::strerror(number)), std::string::npos) << condition();
    EXPECT_FALSE(cached(1));
    expect_read(1);
    expect_read(0);
    EXPECT_EQ(fill(2), Filled::kNoRoom);
    EXPECT_EQ(source_.reads() - before, 2u) << "once for each file that was read";

    files_.fault({});
    EXPECT_EQ(fill(2), Filled::kNoRoom) << "not tried again at once";
    clock_.advance(std::chrono::seconds(31));
    EXPECT_EQ(fill(2), Filled::kDownloaded);
    EXPECT_EQ(condition(), "");
    EXPECT_EQ(fill(1), Filled::kPresent) << "memory still had it";
    expect_read(1);
    EXPECT_TRUE(cached(0) && cached(1) && cached(2));
    EXPECT_EQ(source_.reads() - before, 3u);
    // The next round: none of it is in memory.
    for (std::size_t i = 0; i < kFiles; ++i) source_.put(names_[i], bytes_[i]);
    for (std::string& etag : etags_) etag = "v" + std::to_string(std::stoi(etag.substr(1)) + 8);
  }
}

TEST_F(DiskFaultsTest, AReaderBringsWhatMemoryHasToADiskThatWorksAgain) {
  refuse_changes(ENOSPC);
  expect_read(0);
  files_.fault({});
  clock_.advance(std::chrono::seconds(31));
  EXPECT_FALSE(cached(0));
  expect_read(0);
  EXPECT_TRUE(cached(0));
  EXPECT_EQ(condition(), "");
  EXPECT_EQ(source_.reads(), 1u);
}

TEST_F(DiskFaultsTest, WhatADiskCannotReadIsDownloadedOnceAndNotForEachReader) {
  for (std::size_t i = 0; i < kFiles; ++i) expect_read(i);
  ASSERT_EQ(source_.reads(), kFiles);
  files_.fault([](Call call, const std::string& name) {
    return call == Call::kRead && name.starts_with("segment.") ? EIO : 0;
  });
  for (int round = 0; round < 5; ++round) {
    for (std::size_t i = 0; i < kFiles; ++i) expect_read(i);
  }
  EXPECT_NE(condition().find("cannot be read"), std::string::npos) << condition();
  EXPECT_NE(condition().find(std::strerror(EIO)), std::string::npos);
  // Once for each, and for the first ones, which were stored on that disk again.
  EXPECT_LE(source_.reads(), 2 * kFiles + 3);

  files_.fault({});
  clock_.advance(std::chrono::seconds(31));
  const auto before = source_.reads();
  for (std::size_t i = 0; i < kFiles; ++i) expect_read(i);
  for (std::size_t i = 0; i < kFiles; ++i) EXPECT_TRUE(cached(i)) << i;
  EXPECT_EQ(condition(), "");
  EXPECT_EQ(source_.reads(), before);
}

TEST_F(DiskFaultsTest, OneBadSectorIsFetchedAgainAndStopsNoCaching) {
  expect_read(0);
  files_.fault([](Call call, const std::string& name) {
    return call == Call::kRead && name.starts_with("segment.") ? EIO : 0;
  });
  std::byte into{};
  EXPECT_FALSE(store_->read(block(0), 0, {&into, 1}));
  files_.fault({});
  EXPECT_EQ(condition(), "");
  EXPECT_EQ(store_->stats().unreadable, 1u);
  expect_read(0);
  expect_read(1);
  EXPECT_TRUE(cached(0) && cached(1));
  EXPECT_EQ(source_.reads(), 3u);
}

TEST_F(DiskFaultsTest, ADirectoryThatIsRemovedIsFilledAgainEachFileOnce) {
  for (std::size_t i = 0; i < 4; ++i) expect_read(i);
  refuse_changes(EROFS);  // it cannot be made again either
  files_.unlink_all();
  store_->upkeep();
  for (std::size_t i = 0; i < 4; ++i) expect_read(i);
  EXPECT_EQ(source_.reads(), 4u) << "what is open is served";
  EXPECT_NE(condition(), "");
  expect_read(4);
  expect_read(4);
  EXPECT_EQ(source_.reads(), 5u);

  files_.fault({});
  store_->upkeep();
  EXPECT_EQ(condition(), "");
  EXPECT_NE(store_->stats().notice.find("removed or emptied"), std::string::npos);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < 5; ++i) expect_read(i);
  }
  for (std::size_t i = 0; i < 5; ++i) EXPECT_TRUE(cached(i)) << i;
  EXPECT_EQ(source_.reads(), 9u) << "memory had the fifth";
}

}  // namespace
}  // namespace paddle::samplefs
