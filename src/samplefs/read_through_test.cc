// SPDX-License-Identifier: Apache-2.0
#include "samplefs/read_through.h"

#include <latch>
#include <semaphore>
#include <thread>

#include <gtest/gtest.h>

#include "base/scratch.h"
#include "source/failing_source.h"
#include "source/memory_source.h"

namespace paddle::samplefs {
namespace {

using source::FailingSource;
using source::FaultPoint;
using source::MemorySource;
using Fault = std::optional<Error>;

class ReadThroughTest : public testing::Test {
 protected:
  ReadThroughTest() { memory_.put("a", bytes_); }

  void cache_of(std::uint64_t limit) {
    store_ = *Store::open({.directory = scratch_.path() + "/cache", .limit = limit});
  }
  Block block() const { return block_at("a", "v1", bytes_.size(), 0); }
  Result<std::string> read(ReadThrough& data, std::size_t offset = 0,
                           std::size_t size = std::string::npos, std::stop_token stop = {}) {
    std::string into(std::min(size, bytes_.size() - offset), '?');
    CHECK_DONE(data.read(block(), offset, std::as_writable_bytes(std::span(into)), stop));
    return into;
  }

  const std::string bytes_ = std::string(1000, 'x') + std::string(1000, 'y');
  Scratch scratch_;
  MemorySource memory_;
  std::unique_ptr<Store> store_;
};

TEST_F(ReadThroughTest, TheSecondReadComesFromTheCache) {
  cache_of(1 << 20);
  ReadThrough data(store_.get(), memory_);
  EXPECT_EQ(*read(data), bytes_);
  EXPECT_EQ(*read(data, 900, 200), bytes_.substr(900, 200));
  const auto counters = data.counters();
  EXPECT_EQ(counters.from_source, 2000u);
  EXPECT_EQ(counters.from_cache, 200u);
  EXPECT_EQ(counters.downloaded, 2000u);
  EXPECT_EQ(counters.downloads, 1u);
}

TEST_F(ReadThroughTest, WithoutRoomAFileReadInPiecesIsStillDownloadedOnce) {
  cache_of(0);
  ReadThrough data(store_.get(), memory_);
  for (std::size_t at = 0; at < 2000; at += 100) {
    EXPECT_EQ(*read(data, at, 100), bytes_.substr(at, 100));
  }
  EXPECT_EQ(memory_.reads(), 1u);
  EXPECT_EQ(data.counters().from_memory, 1900u);
}

TEST_F(ReadThroughTest, WorksWithoutAStoreAndWithoutMemory) {
  ReadThrough data(nullptr, memory_, 0);
  EXPECT_EQ(*read(data), bytes_);
  EXPECT_EQ(*read(data), bytes_);
  EXPECT_EQ(memory_.reads(), 2u);
}

TEST_F(ReadThroughTest, ManyReadersCauseOneDownload) {
  cache_of(1 << 20);
  std::latch all_there(8);
  FailingSource slow(memory_, [&](FaultPoint point, std::string_view) -> Fault {
    if (point == FaultPoint::kBeforeRead) all_there.wait();  // until all readers wait
    return {};
  });
  ReadThrough data(store_.get(), slow);
  std::vector<std::jthread> readers;
  for (int i = 0; i < 8; ++i) {
    readers.emplace_back([&] {
      all_there.count_down();
      EXPECT_EQ(*read(data), bytes_);
    });
  }
  readers.clear();
  EXPECT_EQ(memory_.reads(), 1u);
}

TEST_F(ReadThroughTest, AllReadersGetAFailureAndItIsRememberedForAMoment) {
  cache_of(1 << 20);
  std::atomic<bool> broken = true;
  FailingSource failing(memory_, [&](FaultPoint point, std::string_view) -> Fault {
    if (broken && point == FaultPoint::kAfterRead) return Error{Code::kUnavailable, "cut off"};
    return {};
  });
  ManualClock clock;
  ReadThrough data(store_.get(), failing, ReadThrough::kRecentBytes, clock);
  EXPECT_TRUE(read(data).is(Code::kUnavailable));
  EXPECT_EQ(store_->stats().blocks, 0u);
  EXPECT_EQ(data.counters().failures, 1u);
  EXPECT_EQ(data.counters().downloaded, 0u);
  broken = false;
  EXPECT_TRUE(read(data).is(Code::kUnavailable)) << "the second READ of the kernel fails at once";
  EXPECT_EQ(data.counters().failures, 1u);
  clock.advance(RecentFailures::kKept);
  EXPECT_EQ(*read(data), bytes_);
}

TEST_F(ReadThroughTest, FailuresThatAreNotRetryableAreNotRemembered) {
  std::optional<Error> fault;
  FailingSource failing(memory_, [&](FaultPoint, std::string_view) { return fault; });
  ReadThrough data(nullptr, failing);
  for (const Code code : {Code::kUnauthorized, Code::kForbidden, Code::kNotFound, Code::kConflict,
                          Code::kCancelled}) {
    fault = Error{code, "refused"};
    EXPECT_TRUE(read(data).is(code));
  }
  fault.reset();
  EXPECT_EQ(*read(data), bytes_);
}

TEST_F(ReadThroughTest, ADownloadedBlockIsReadDespiteAnEarlierFailure) {
  cache_of(1 << 20);
  bool broken = true;
  FailingSource failing(memory_, [&](FaultPoint, std::string_view) -> Fault {
    if (broken) return Error{Code::kDeadline, "no answer"};
    return {};
  });
  ReadThrough data(store_.get(), failing);
  EXPECT_TRUE(read(data).is(Code::kDeadline));
  broken = false;
  EXPECT_EQ(*data.fill(block(), {}), ReadThrough::Filled::kDownloaded)
      << "the background is not held up";
  EXPECT_EQ(*read(data), bytes_);
}

TEST_F(ReadThroughTest, ALocalReadCallsNoSource) {
  cache_of(1 << 20);
  ReadThrough data(store_.get(), memory_);
  std::string into(bytes_.size(), '?');
  const auto local = [&] {
    return data.read_local(block(), 0, std::as_writable_bytes(std::span(into)));
  };
  auto missed = local();
  ASSERT_TRUE(missed);
  EXPECT_FALSE(*missed);
  EXPECT_EQ(memory_.reads(), 0u);
  ASSERT_TRUE(data.fill(block(), {}));
  auto found = local();
  ASSERT_TRUE(found);
  EXPECT_TRUE(*found);
  EXPECT_EQ(into, bytes_);
}

TEST_F(ReadThroughTest, TheReadersDeadlineReachesTheSourceAndTheBackgroundHasNone) {
  std::vector<BootTime> deadlines;
  class Witness final : public Sources {
   public:
    explicit Witness(std::vector<BootTime>& seen) : seen_(seen) {}
    Result<> read(const Block&, std::span<std::byte>, const source::CallContext& context) override {
      seen_.push_back(context.until);
      return Error{Code::kNotFound, "no such object"};
    }

   private:
    std::vector<BootTime>& seen_;
  };
  Witness witness(deadlines);
  cache_of(1 << 20);
  ReadThrough data(store_.get(), witness);
  const BootTime until{std::chrono::seconds{42}};
  std::string into(1, '?');
  EXPECT_TRUE(data.read(block(), 0, std::as_writable_bytes(std::span(into)), {{}, until})
                  .is(Code::kNotFound));
  EXPECT_TRUE(data.fill(block(), {}).is(Code::kNotFound));
  EXPECT_TRUE(data.fetch_ahead(block(), {}).is(Code::kNotFound));
  EXPECT_EQ(deadlines, (std::vector<BootTime>{until, BootTime::max(), BootTime::max()}));
}

TEST_F(ReadThroughTest, AReaderDoesNotWaitForTheBackgroundLongerThanItsOwnDeadline) {
  cache_of(1 << 20);
  std::binary_semaphore downloading(0);
  std::binary_semaphore go_on(0);
  FailingSource slow(memory_, [&](FaultPoint point, std::string_view) -> Fault {
    if (point == FaultPoint::kBeforeRead) {
      downloading.release();
      go_on.acquire();
    }
    return {};
  });
  ReadThrough data(store_.get(), slow);
  std::jthread filler(
      [&] { EXPECT_EQ(*data.fill(block(), {}), ReadThrough::Filled::kDownloaded); });
  downloading.acquire();
  std::string into(1, '?');
  const BootTime until = system_clock().boot() + std::chrono::milliseconds{20};
  EXPECT_TRUE(data.read(block(), 0, std::as_writable_bytes(std::span(into)), {{}, until})
                  .is(Code::kDeadline));
  go_on.release();
  filler.join();
  EXPECT_EQ(*read(data), bytes_) << "the download went on";
}

TEST_F(ReadThroughTest, TheBackgroundTakesOverWhenTheDeadlineOfAReaderPasses) {
  cache_of(1 << 20);
  std::binary_semaphore downloading(0);
  std::binary_semaphore filler_asks(0);
  std::atomic<int> calls = 0;
  FailingSource slow(memory_, [&](FaultPoint point, std::string_view) -> Fault {
    if (point != FaultPoint::kBeforeRead || calls++ > 0) return {};
    downloading.release();
    filler_asks.acquire();
    return Error{Code::kDeadline, "no time is left"};
  });
  ReadThrough data(store_.get(), slow);
  std::jthread reader([&] { EXPECT_TRUE(read(data).is(Code::kDeadline)); });
  downloading.acquire();
  std::jthread filler([&] {
    filler_asks.release();
    EXPECT_EQ(*data.fill(block(), {}), ReadThrough::Filled::kDownloaded);
  });
}

TEST_F(ReadThroughTest, AChangedObjectIsAConflictUnlessItIsCached) {
  cache_of(1 << 20);
  ReadThrough data(store_.get(), memory_);
  ASSERT_TRUE(read(data));
  memory_.put("a", std::string(2000, 'z'));
  EXPECT_EQ(*read(data), bytes_) << "the version that the index names";
  store_->clear();
  EXPECT_TRUE(read(data).is(Code::kConflict));
}

TEST_F(ReadThroughTest, AReaderTakesOverWhenTheFillerIsStopped) {
  cache_of(1 << 20);
  std::stop_source stop;
  std::binary_semaphore downloading(0);
  std::binary_semaphore reader_asked(0);
  std::atomic<int> calls = 0;
  FailingSource slow(memory_, [&](FaultPoint point, std::string_view) -> Fault {
    if (point != FaultPoint::kBeforeRead || calls++ > 0) return {};
    downloading.release();
    reader_asked.acquire();
    stop.request_stop();
    return Error{Code::kCancelled, "stopped"};
  });
  ReadThrough data(store_.get(), slow);
  std::jthread filler(
      [&] { EXPECT_TRUE(data.fill(block(), stop.get_token()).is(Code::kCancelled)); });
  downloading.acquire();
  std::jthread reader([&] {
    reader_asked.release();
    EXPECT_EQ(*read(data), bytes_);
  });
}

TEST_F(ReadThroughTest, AStopEndsTheWaitForTheDownloadOfAnotherCaller) {
  std::binary_semaphore downloading(0);
  std::binary_semaphore go_on(0);
  FailingSource slow(memory_, [&](FaultPoint point, std::string_view) -> Fault {
    if (point == FaultPoint::kBeforeRead) {
      downloading.release();
      go_on.acquire();
    }
    return {};
  });
  ReadThrough data(nullptr, slow);
  std::jthread leader([&] { EXPECT_EQ(*read(data), bytes_); });
  downloading.acquire();
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_TRUE(read(data, 0, 10, stop.get_token()).is(Code::kCancelled));
  go_on.release();
}

TEST_F(ReadThroughTest, FillDownloadsNothingThatWouldNotBeKept) {
  cache_of(0);
  ReadThrough data(store_.get(), memory_);
  EXPECT_EQ(*data.fill(block(), {}), ReadThrough::Filled::kNoRoom);
  EXPECT_EQ(memory_.reads(), 0u);
}

TEST_F(ReadThroughTest, DownloadsInProgressStayWithinTheByteBudget) {
  static constexpr std::uint64_t kLimit = 16 * kBlockSize;
  constexpr int kAtOnce = kLimit / kBlockSize;
  class Crowd final : public Sources {
   public:
    Result<> read(const Block&, std::span<std::byte> into, const source::CallContext&) override {
      const std::uint64_t now = inside_.fetch_add(into.size()) + into.size();
      EXPECT_LE(now, kLimit);
      if (calls_.fetch_add(1) < kAtOnce) all_there_.arrive_and_wait();
      inside_.fetch_sub(into.size());
      return Error{Code::kNotFound, "no such object"};
    }

   private:
    std::latch all_there_{kAtOnce};
    std::atomic<int> calls_ = 0;
    std::atomic<std::uint64_t> inside_ = 0;
  };
  Crowd crowd;
  cache_of(1 << 30);
  ReadThrough data(store_.get(), crowd, ReadThrough::kRecentBytes, system_clock(), kLimit);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 2 * kAtOnce; ++i) {
      threads.emplace_back([&data, i] {
        const std::string path = std::to_string(i);
        const Block whole = block_at(path, "v", kBlockSize, 0);
        std::byte into{};
        EXPECT_TRUE(i % 2 == 0 ? data.fill(whole, {}).is(Code::kNotFound)
                               : data.read(whole, 0, {&into, 1}, {}).is(Code::kNotFound));
      });
    }
  }
  EXPECT_EQ(data.budget().peak(), kLimit);
  EXPECT_EQ(data.budget().held(), 0u);
}

TEST_F(ReadThroughTest, WhatIsKeptForAMomentIsPartOfTheByteBudgetAndHoldsUpNobody) {
  constexpr std::uint64_t kLimit = 4 * kBlockSize;
  class Zeros final : public Sources {
   public:
    Result<> read(const Block&, std::span<std::byte>, const source::CallContext&) override {
      return Done{};
    }
  };
  Zeros zeros;
  for (const bool small : {false, true}) {
    ReadThrough data(nullptr, zeros, std::size_t{1} << 30, system_clock(), small ? 1 : kLimit);
    EXPECT_EQ(data.budget().limit(), kLimit) << "less would stop a block for ever";
    for (int i = 0; i < 20; ++i) {
      const std::string path = std::to_string(i);
      std::byte into{};
      ASSERT_TRUE(data.read(block_at(path, "v", kBlockSize, 0), 0, {&into, 1}, {}));
    }
    EXPECT_EQ(data.budget().held(), kLimit / 2);
    EXPECT_LE(data.budget().peak(), kLimit);
  }
}

TEST_F(ReadThroughTest, FillSkipsCachedBlocks) {
  cache_of(1 << 20);
  ReadThrough data(store_.get(), memory_);
  EXPECT_EQ(*data.fill(block(), {}), ReadThrough::Filled::kDownloaded);
  EXPECT_EQ(*data.fill(block(), {}), ReadThrough::Filled::kPresent);
  EXPECT_EQ(*read(data), bytes_);
  EXPECT_EQ(data.counters().from_cache, 2000u);
  EXPECT_EQ(memory_.reads(), 1u);
}

}  // namespace
}  // namespace paddle::samplefs
