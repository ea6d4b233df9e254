// SPDX-License-Identifier: Apache-2.0
#include "samplefs/byte_budget.h"

#include <atomic>
#include <semaphore>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace paddle::samplefs {
namespace {

using Priority = ByteBudget::Priority;

TEST(ByteBudget, GrantsUpToItsLimitAndTakesBackWhatIsReleased) {
  ByteBudget budget(100);
  auto first = budget.take(60, Priority::kReader, {});
  auto second = budget.take(40, Priority::kBackground, {});
  EXPECT_EQ(budget.held(), 100u);
  EXPECT_FALSE(budget.take(1, Priority::kReader, {{}, BootTime{}})) << "the deadline has passed";
  first.reset();
  EXPECT_EQ(budget.held(), 40u);
  EXPECT_TRUE(budget.take(60, Priority::kReader, {}));
  second.reset();
  EXPECT_EQ(budget.held(), 0u);
  EXPECT_EQ(budget.peak(), 100u);
}

TEST(ByteBudget, ARequestBeyondTheLimitIsGrantedAlone) {
  ByteBudget budget(100);
  const auto all = budget.take(500, Priority::kReader, {});
  EXPECT_TRUE(all);
  EXPECT_FALSE(budget.take(1, Priority::kReader, {{}, BootTime{}}));
}

TEST(ByteBudget, AReaderComesBeforeTheBackgroundThatWaitsLonger) {
  ByteBudget budget(100);
  auto all = budget.take(100, Priority::kBackground, {});
  std::vector<int> order;
  Mutex mutex;
  const auto wait_as = [&](Priority priority, int name) {
    const auto hold = budget.take(100, priority, {});
    Lock lock(mutex);
    order.push_back(name);
  };
  std::jthread background([&] { wait_as(Priority::kBackground, 2); });
  std::jthread reader([&] { wait_as(Priority::kReader, 1); });
  while (budget.waiting() < 2) std::this_thread::yield();
  all.reset();
  background.join();
  reader.join();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(ByteBudget, SmallRequestsDoNotOvertakeALargeOne) {
  ByteBudget budget(100);
  auto some = budget.take(50, Priority::kReader, {});
  std::jthread large([&] { EXPECT_TRUE(budget.take(100, Priority::kReader, {})); });
  while (budget.waiting() < 1) std::this_thread::yield();
  EXPECT_FALSE(budget.take(10, Priority::kReader, {{}, BootTime{}}));
  some.reset();
}

TEST(ByteBudget, AWaiterThatGivesUpHoldsUpNobody) {
  ByteBudget budget(100);
  auto some = budget.take(50, Priority::kReader, {});
  std::stop_source stop;
  std::jthread large(
      [&] { EXPECT_FALSE(budget.take(100, Priority::kReader, {stop.get_token()})); });
  while (budget.waiting() < 1) std::this_thread::yield();
  std::jthread small([&] { EXPECT_TRUE(budget.take(50, Priority::kReader, {})); });
  while (budget.waiting() < 2) std::this_thread::yield();
  stop.request_stop();
  small.join();
}

TEST(ByteBudget, IsNeverExceededByManyThreads) {
  ByteBudget budget(100);
  std::atomic<int> held = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 300; ++i) {
          const int bytes = 1 + (i * 13 + t * 29) % 70;
          const auto hold = budget.take(static_cast<std::uint64_t>(bytes),
                                        t % 2 ? Priority::kReader : Priority::kBackground, {});
          ASSERT_TRUE(hold);
          EXPECT_LE(held.fetch_add(bytes) + bytes, 100);
          held.fetch_sub(bytes);
        }
      });
    }
  }
  EXPECT_EQ(budget.held(), 0u);
  EXPECT_LE(budget.peak(), 100u);
}

}  // namespace
}  // namespace paddle::samplefs
