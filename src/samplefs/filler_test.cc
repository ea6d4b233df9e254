// SPDX-License-Identifier: Apache-2.0
#include "samplefs/filler.h"

#include <semaphore>
#include <thread>

#include <gtest/gtest.h>

#include "base/scratch.h"
#include "samplefs/listed_index.h"
#include "samplefs/unreferenced_blocks.h"
#include "source/failing_source.h"
#include "source/memory_source.h"

namespace paddle::samplefs {
namespace {

using source::FailingSource;
using source::FaultPoint;
using Fault = std::optional<Error>;

class FillerTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kFiles = 60;

  FillerTest() {
    for (std::uint64_t i = 0; i < kFiles; ++i) {
      memory_.put("d" + std::to_string(i % 5) + "/f" + std::to_string(i),
                  std::string(1000 + i, 'x'));
    }
    memory_.put("empty", "");
    index_ = *sync_index(memory_, scratch_.path() + "/index", 1, {});
  }
  void cache_of(std::uint64_t limit) {
    store_.reset();
    store_ = *Store::open({.directory = scratch_.path() + "/cache", .limit = limit});
  }

  Scratch scratch_;
  source::MemorySource memory_;
  std::shared_ptr<const Index> index_;
  std::unique_ptr<Store> store_;
};

TEST_F(FillerTest, DownloadsEverythingOnce) {
  cache_of(1 << 30);
  ReadThrough data(store_.get(), memory_);
  for (const bool again : {false, true}) {
    Filler filler(index_, data);
    ASSERT_TRUE(filler.run({}));
    const auto progress = filler.progress();
    EXPECT_TRUE(progress.finished);
    EXPECT_EQ(progress.files_total, kFiles + 1);
    EXPECT_EQ(progress.files_done, kFiles + 1);
    EXPECT_EQ(progress.bytes_done, index_->totals().bytes);
    EXPECT_EQ(progress.bytes_total, index_->totals().bytes);
    EXPECT_EQ(progress.bytes_downloaded, again ? 0 : index_->totals().bytes);
    EXPECT_EQ(progress.time_left(), std::chrono::seconds{0});
    EXPECT_EQ(memory_.reads(), kFiles);
  }
}

TEST_F(FillerTest, ResumesWhereItWasStopped) {
  cache_of(1 << 30);
  std::stop_source stop;
  std::atomic<int> reads = 0;
  FailingSource stopping(memory_, [&](FaultPoint point, std::string_view) -> Fault {
    if (point == FaultPoint::kAfterRead && ++reads == 20) stop.request_stop();
    return {};
  });
  ReadThrough data(store_.get(), stopping);
  Filler first(index_, data, {.workers = 3});
  EXPECT_TRUE(first.run(stop.get_token()).is(Code::kCancelled));
  EXPECT_FALSE(first.progress().finished);
  EXPECT_LT(first.progress().files_done, kFiles);
  EXPECT_EQ(first.progress().files_failed, 0u) << "stopped is not failed";

  const auto before = store_->stats().blocks;
  EXPECT_GE(before, 20u);
  cache_of(1 << 30);  // another process would
  ReadThrough later(store_.get(), memory_);
  Filler second(index_, later);
  ASSERT_TRUE(second.run({}));
  EXPECT_EQ(second.progress().files_done, kFiles + 1);
  EXPECT_EQ(later.counters().downloads, kFiles - before);
}

TEST_F(FillerTest, CountsFailuresAndContinues) {
  cache_of(1 << 30);
  FailingSource failing(memory_, [](FaultPoint point, std::string_view path) -> Fault {
    if (point == FaultPoint::kBeforeRead && path.starts_with("d3/")) {
      return Error{Code::kForbidden, "no"};
    }
    return {};
  });
  ReadThrough data(store_.get(), failing);
  Filler filler(index_, data);
  ASSERT_TRUE(filler.run({}));
  EXPECT_EQ(filler.progress().files_failed, 12u);
  EXPECT_EQ(filler.progress().files_done, kFiles + 1 - 12);
  EXPECT_NE(filler.progress().first_error.find("d3/"), std::string::npos);
}

TEST_F(FillerTest, ASetThatDoesNotFitFillsTheCacheAndNoMore) {
  cache_of(30UL * 4096 + table_size(kMinSlots));
  ReadThrough data(store_.get(), memory_);
  Filler filler(index_, data);
  ASSERT_TRUE(filler.run({}));
  EXPECT_EQ(filler.progress().files_done, 30u + 1);
  EXPECT_EQ(filler.progress().files_no_room, 30u);
  // Workers that passed the check at once may each have downloaded one file too many.
  EXPECT_LE(memory_.reads(), 30u + 16);
}

TEST_F(FillerTest, FillsTheGivenFilesInTheirOrder) {
  cache_of(1 << 30);
  std::vector<std::string> order;
  FailingSource watching(memory_, [&](FaultPoint point, std::string_view path) -> Fault {
    if (point == FaultPoint::kBeforeRead) order.emplace_back(path);
    return {};
  });
  ReadThrough data(store_.get(), watching);
  std::vector<Index::Position> part{*index_->resolve("d1/f6"), *index_->resolve("d0/f5"),
                                    *index_->resolve("d4/f9")};
  Filler filler(index_, part, data, {.workers = 1});
  ASSERT_TRUE(filler.run({}));
  EXPECT_EQ(order, (std::vector<std::string>{"d1/f6", "d0/f5", "d4/f9"}));
}

TEST_F(FillerTest, YieldsToAWaitingReader) {
  cache_of(1 << 30);
  std::counting_semaphore<> reader_may_go(0);
  std::binary_semaphore reader_waits(0);
  FailingSource slow(memory_, [&](FaultPoint point, std::string_view path) -> Fault {
    if (point == FaultPoint::kBeforeRead && path == "d0/f0") {
      reader_waits.release();
      reader_may_go.acquire();
    }
    return {};
  });
  ReadThrough data(store_.get(), slow);
  std::jthread reader([&] {
    std::string into(1000, '?');
    EXPECT_TRUE(data.read(block_at("d0/f0", "v1", 1000, 0), 0,
                          std::as_writable_bytes(std::span(into)), {}));
  });
  reader_waits.acquire();
  // With no worker allowed beside readers, nothing is downloaded until the reader is served.
  Filler filler(index_, data, {.workers = 4, .workers_beside_readers = 0});
  std::jthread running([&] { EXPECT_TRUE(filler.run({})); });
  EXPECT_EQ(filler.progress().files_done, 0u);
  reader_may_go.release();
  running.join();
  EXPECT_EQ(filler.progress().files_done, kFiles + 1);
}

TEST_F(FillerTest, UnreferencedBlocksFindEveryBlockOfAnIndex) {
  memory_.put("big", std::string(kBlockSize * 2 + 1, 'b'));
  index_ = *sync_index(memory_, scratch_.path() + "/index", 2, {});
  cache_of(1 << 30);
  ReadThrough data(store_.get(), memory_);
  ASSERT_TRUE(Filler(index_, data).run({}));
  EXPECT_EQ(store_->stats().blocks, kFiles + 3);
  UnreferencedBlocks all(store_->keys());
  all.needs(*index_);
  EXPECT_TRUE(all.rest().empty());

  UnreferencedBlocks but_one(store_->keys());
  const auto big = *index_->resolve("big");
  but_one.needs(*index_, [&](Index::Position position) { return position != big; });
  EXPECT_EQ(but_one.rest().size(), 3u);
  store_->drop_all(but_one.rest());
  EXPECT_EQ(store_->stats().blocks, kFiles);
  EXPECT_EQ(UnreferencedBlocks(store_->keys()).rest().size(), kFiles) << "no block is referenced";
}

}  // namespace
}  // namespace paddle::samplefs
