// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/status/status_delay.h"

#include <gtest/gtest.h>

#include "controllers/runtime_jobs/progress_writes.h"
#include "controllers/sample_set/testing/model_cluster.h"

namespace paddle::controllers::sample_set {
namespace {

using namespace std::chrono_literals;

api::SampleSetStatus warming_up(std::int64_t cached) {
  api::SampleSetStatus status{.phase = "PartialReady", .jobs = api::JobsName{.warmup = "w-1"}};
  status.cache = api::CacheStatus{.cached_bytes = cached};
  status.partitions = {{.index = 0, .node = "a", .total_bytes = 100, .cached_bytes = cached}};
  status.conditions = {{.type = "Warmed",
                        .status = "Unknown",
                        .reason = "WarmingUp",
                        .message = std::to_string(cached) + "%"}};
  return status;
}

TEST(SampleSetStatusDelay, ProgressIsWrittenAtMostEveryFiveSeconds) {
  const auto before = warming_up(10), after = warming_up(20);
  EXPECT_EQ(status_delay(before, after, std::nullopt), 0s) << "an operator that has just started";
  EXPECT_EQ(status_delay(before, after, 0s), 5s);
  EXPECT_EQ(status_delay(before, after, 3s), 2s);
  EXPECT_EQ(status_delay(before, after, 7s), 0s);
}

TEST(SampleSetStatusDelay, EveryOtherChangeIsWrittenAtOnce) {
  const auto before = warming_up(10);
  const auto delay = [&](auto change) {
    auto after = warming_up(20);
    change(after);
    return status_delay(before, after, 0s);
  };
  EXPECT_EQ(delay([](auto& s) { s.phase = "Ready"; }), 0s);
  EXPECT_EQ(delay([](auto& s) { s.conditions[0].status = "True"; }), 0s);
  EXPECT_EQ(delay([](auto& s) { s.conditions[0].reason = "WarmedUp"; }), 0s);
  EXPECT_EQ(delay([](auto& s) { s.conditions.push_back({.type = "Degraded"}); }), 0s);
  EXPECT_EQ(delay([](auto& s) { s.jobs->warmup = "w-2"; }), 0s);
  EXPECT_EQ(delay([](auto& s) { s.partitions[0].node = "b"; }), 0s);
  EXPECT_EQ(delay([](auto& s) { s.partitions[0].uncached_reason = "NoRoom"; }), 0s);
  EXPECT_EQ(delay([](auto& s) { s.observed_generation = 2; }), 0s);
  EXPECT_EQ(delay([](auto& s) { s.sync.emplace(); }), 0s);
}

TEST(SampleSetStatusDelay, OfADividedSyncTheStatesArePartOfTheStatusAndTheProgressIsNot) {
  api::SampleSetStatus before;
  before.sync.emplace().parts = {{.index = 0, .id = "s", .state = "Running", .work = api::Work{}}};
  auto after = before;
  after.sync->parts[0].work->bytes_done = 5;
  after.sync->parts[0].message = "slow";
  EXPECT_EQ(status_delay(before, after, 0s), 5s);
  auto stalled = before;
  stalled.sync->parts[0].stalled_since = WallTime{1s};
  EXPECT_EQ(status_delay(before, stalled, 0s), 0s);
  after.sync->parts[0].state = "Succeeded";
  EXPECT_EQ(status_delay(before, after, 0s), 0s);
}

// The event says what has changed: both are written together, so that it is emitted once.
TEST(SampleSetStatusDelay, AStatusWithAnEventIsNotDelayed) {
  ModelCluster model(model_set(2));
  model.settle();
  const auto leave_out = [&](std::int64_t count) {
    for (RuntimeReport& report : model.world.runtime_reports) {
      report.status->index->left_out = {.count = count, .examples = {"'a//b' (an empty part)"}};
    }
    model.world.since_status_write = 0s;
    return desired(model.set, model.world, model_config(), model.now);
  };
  const Plan first = leave_out(1);
  ASSERT_TRUE(first.status);
  model.set.status = *first.status;
  const Plan second = leave_out(2);  // another message of the same condition
  EXPECT_TRUE(second.has_events());
  EXPECT_EQ(second.status_delay, 0s);
}

}  // namespace
}  // namespace paddle::controllers::sample_set
