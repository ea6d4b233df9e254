// SPDX-License-Identifier: Apache-2.0
#include "controllers/placement/set_change.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle::controllers::placement {
namespace {

api::SampleSet warming_set() {
  api::SampleSet set;
  set.meta = {.key = {"t", "imagenet"}, .uid = "u", .generation = 2};
  set.spec.partitions = 2;
  set.status.phase = "Ready";
  set.status.engine = "juicefs";
  set.status.observed_generation = 2;
  set.status.index = api::IndexStatus{.generation = 4, .digest = "abc"};
  set.status.conditions = {
      {.type = "Ready", .status = "True", .reason = "Ready", .message = "all runtimes are ready"},
      {.type = "Warmed", .status = "False", .reason = "WarmingUp", .message = "10 of 100 files"}};
  for (int i = 0; i < 2; ++i) {
    set.status.partitions.push_back({.index = i,
                                     .node = "node" + std::to_string(i),
                                     .total_bytes = 1'000'000,
                                     .cached_bytes = 400'000,
                                     .ready = true});
  }
  return set;
}

template <typename Edit>
SetChange after(Edit edit, const api::SampleSet& before = warming_set()) {
  api::SampleSet changed = before;
  edit(changed);
  return change_for_jobs(before, changed);
}

TEST(SetChange, WhatNoJobReadsConcernsNone) {
  EXPECT_EQ(after([](auto& set) { set.meta.resource_version = "9"; }), SetChange::kNone);
  EXPECT_EQ(after([](auto& set) { set.meta.annotations["a"] = "b"; }), SetChange::kNone);
  EXPECT_EQ(after([](auto& set) { set.status.conditions[1].message = "90 of 100 files"; }),
            SetChange::kNone);
  EXPECT_EQ(after([](auto& set) { set.status.cache = api::CacheStatus{.cached_bytes = 7}; }),
            SetChange::kNone);
  EXPECT_EQ(after([](auto& set) { set.status.jobs = api::JobsName{.warmup = "w2"}; }),
            SetChange::kNone);
  EXPECT_EQ(after([](auto& set) { set.status.partitions[0].warmed = "w1"; }), SetChange::kNone);
}

TEST(SetChange, WarmthConcernsJobsWithAGateByThousandths) {
  EXPECT_EQ(after([](auto& set) { set.status.partitions[1].cached_bytes += 999; }),
            SetChange::kNone);
  EXPECT_EQ(after([](auto& set) { set.status.partitions[1].cached_bytes += 1000; }),
            SetChange::kWarmth);
  EXPECT_EQ(after([](auto& set) { set.status.partitions[0].uncached_reason = "NoRoom"; }),
            SetChange::kWarmth);
  EXPECT_EQ(after([](auto& set) { set.status.observed_generation = 1; }), SetChange::kWarmth);
}

TEST(SetChange, WhatEveryJobReadsConcernsAll) {
  EXPECT_EQ(after([](auto& set) { set.status.phase = "PartialReady"; }), SetChange::kAll);
  EXPECT_EQ(after([](auto& set) { set.meta.deleted = WallTime{}; }), SetChange::kAll);
  EXPECT_EQ(after([](auto& set) { set.meta.uid = "another"; }), SetChange::kAll);
  EXPECT_EQ(after([](auto& set) { set.spec.partitions = 3; }), SetChange::kAll);
  EXPECT_EQ(after([](auto& set) { set.spec.tolerations = api::Json::array(); }), SetChange::kAll);
  EXPECT_EQ(after([](auto& set) { set.status.partitions[0].node = "node9"; }), SetChange::kAll);
  EXPECT_EQ(after([](auto& set) { set.status.partitions.pop_back(); }), SetChange::kAll);
  EXPECT_EQ(after([](auto& set) { set.status.index->digest = "def"; }), SetChange::kAll);
  EXPECT_EQ(
      after([](auto& set) {
        set.status.conditions.push_back({.type = "Degraded", .status = "True", .reason = "NoNode"});
      }),
      SetChange::kAll);
}

TEST(SetChange, TheReasonOfAFirstSyncThatFailsConcernsAllAndItsProgressNone) {
  const auto other_message = [](auto& set) { set.status.conditions[0].message = "another"; };
  auto set = warming_set();
  set.status.phase = "SyncFailed";
  EXPECT_EQ(after(other_message, set), SetChange::kAll);
  set.status.phase = "Syncing";
  EXPECT_EQ(after(other_message, set), SetChange::kNone);
}

}  // namespace
}  // namespace paddle::controllers::placement
