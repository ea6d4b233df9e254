// SPDX-License-Identifier: Apache-2.0
#include "controllers/loop/workqueue.h"

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace paddle::controllers {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

struct Bench {
  Metrics metrics{};
  Random random{7};
  WorkQueue queue{"test", {.first_pause = milliseconds{1}}, system_clock(), random, metrics};
};

TEST(WorkQueue, WorkersNeverShareAKeyAndNoChangeIsLost) {
  Bench bench;
  constexpr int kKeys = 7, kAdds = 4000, kWorkers = 4;
  std::array<std::atomic<int>, kKeys> written{}, seen{}, inside{};
  std::atomic<int> collisions{0}, passes{0};
  std::vector<std::jthread> workers;
  for (int w = 0; w < kWorkers; ++w) {
    workers.emplace_back([&](std::stop_token stop) {
      while (auto taken = bench.queue.take(stop)) {
        const auto k = static_cast<size_t>(taken->key.name[0] - '0');
        if (inside[k].fetch_add(1) != 0) ++collisions;
        seen[k] = written[k].load();
        const int pass = ++passes;
        inside[k].fetch_sub(1);
        if (pass % 5 == 0) {
          bench.queue.failed(taken->key);
        } else if (pass % 7 == 0) {
          bench.queue.again(taken->key, milliseconds{1});
        } else if (pass % 11 == 0) {
          bench.queue.abandoned(taken->key);
        } else {
          bench.queue.finished(taken->key);
        }
      }
    });
  }
  std::vector<std::jthread> writers;
  for (int t = 0; t < 2; ++t) {
    writers.emplace_back([&, t] {
      for (int i = 0; i < kAdds; ++i) {
        const int k = (i + t) % kKeys;
        ++written[static_cast<size_t>(k)];
        bench.queue.add({"ns", std::to_string(k)});
      }
    });
  }
  writers.clear();
  for (size_t k = 0; k < kKeys; ++k) {
    while (seen[k] != written[k]) std::this_thread::yield();  // hangs if a change was lost
  }
  workers.clear();
  EXPECT_EQ(collisions, 0);
}

TEST(WorkQueue, AClosedQueueKeepsAddedKeysAndHandsOutNone) {
  Bench bench;
  bench.queue.close();
  bench.queue.add({"ns", "a"});
  std::atomic<bool> given{false};
  std::jthread worker([&](std::stop_token stop) { given = bench.queue.take(stop).has_value(); });
  EXPECT_FALSE(given);
  EXPECT_EQ(bench.queue.depth(), 1u);
  bench.queue.open();
  worker.join();
  EXPECT_TRUE(given);
}

TEST(WorkQueue, StopEndsAWaitAtOnce) {
  Bench bench;
  std::jthread worker([&](std::stop_token stop) { EXPECT_FALSE(bench.queue.take(stop)); });
  worker.request_stop();
  worker.join();
}

TEST(WorkQueue, WaitIdleWaitsForThePassInProgressAndNoLonger) {
  Bench bench;
  bench.queue.add({"ns", "a"});
  bench.queue.add({"ns", "b"});
  std::stop_source stop;
  const auto taken = bench.queue.take(stop.get_token());
  ASSERT_TRUE(taken);
  bench.queue.close();
  EXPECT_FALSE(bench.queue.wait_idle(milliseconds{1})) << "a pass is still running";
  std::jthread worker([&] { bench.queue.finished(taken->key); });
  EXPECT_TRUE(bench.queue.wait_idle(minutes{1}));
  EXPECT_EQ(bench.queue.depth(), 1u);
}

TEST(WorkQueue, ExportsItsMetrics) {
  Bench bench;
  std::stop_source stop;
  bench.queue.add({"ns", "a"});
  bench.queue.add({"ns", "a"});
  auto taken = bench.queue.take(stop.get_token());
  ASSERT_TRUE(taken);
  bench.queue.failed(taken->key, minutes{1});
  bench.queue.add_after({"ns", "b"}, minutes{1});
  bench.queue.refresh_metrics();
  const auto text = bench.metrics.text();
  EXPECT_NE(text.find("paddle_workqueue_adds_total{controller=\"test\"} 2"), text.npos) << text;
  EXPECT_NE(text.find("paddle_workqueue_retries_total{controller=\"test\"} 1"), text.npos);
  EXPECT_NE(text.find("paddle_workqueue_depth{controller=\"test\"} 0"), text.npos);
  EXPECT_NE(text.find("paddle_workqueue_delayed{controller=\"test\"} 2"), text.npos);
  EXPECT_NE(text.find("paddle_workqueue_wait_seconds_count{controller=\"test\"} 1"), text.npos);
}

}  // namespace
}  // namespace paddle::controllers
