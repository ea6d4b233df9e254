// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/status/uncached_reason.h"

#include <gtest/gtest.h>

#include "controllers/sample_set/testing/model_cluster.h"

namespace paddle::controllers::sample_set {
namespace {

using std::chrono::seconds;

TEST(SampleSetUncachedReason, IsSetWhenNoWarmUpIsGoingToCacheTheRest) {
  for (const bool shares_volume : {false, true}) {
    ModelCluster model(model_set(2, shares_volume));
    const auto why = [&](int index) {
      return model.set.status.partitions[static_cast<size_t>(index)].uncached_reason;
    };
    bool said_early = false;
    for (int i = 0; i < 40; ++i) {
      model.pass();
      for (const auto& one : model.set.status.partitions) {
        said_early = said_early || !one.uncached_reason.empty();
      }
    }
    EXPECT_FALSE(said_early) << "a warm-up was to come, or all of it is cached";
    model.clear_cache(1);
    model.settle();
    EXPECT_EQ(why(0), "");
    EXPECT_EQ(why(1), api::uncached::kCleared);
    model.lose_journal(1);  // the runtime does not remember why
    model.settle();
    EXPECT_EQ(why(1), api::uncached::kCleared);
    model.silence(1, seconds(3));
    model.pass();
    EXPECT_EQ(why(1), api::uncached::kCleared) << "it does not answer for a moment";
    model.silence(1, {});
    model.lose_node(model.node_of(1));
    model.pass();
    EXPECT_EQ(why(1), "") << "it is warmed up where it goes";
    model.settle();
    EXPECT_EQ(model.set.status.partitions[1].cached_bytes, 1000);
    EXPECT_EQ(why(1), "");
    EXPECT_EQ(model.violation, "");
  }
}

TEST(SampleSetUncachedReason, IsEmptyWhileAWarmUpOfAUserRuns) {
  ModelCluster model(model_set(1));
  model.settle();
  model.environment_runs = false;
  auto& seen = *model.world.runtime_reports[0].status;
  seen.part_cached_bytes = 990;
  const auto why = [&] {
    model.pass();
    return model.set.status.partitions[0].uncached_reason;
  };
  EXPECT_EQ(why(), api::uncached::kPartly);
  seen.last_warm_up = runtime::LastWarmUp{.ended = false, .files_no_room = 2};
  EXPECT_EQ(why(), "");
  seen.last_warm_up->ended = true;
  EXPECT_EQ(why(), api::uncached::kNoRoom);
  seen.last_warm_up->cleared_since = true;
  EXPECT_EQ(why(), api::uncached::kCleared);

  model.set.spec.warmup = api::AutoWarmup{.enabled = false};
  EXPECT_EQ(why(), "") << "who has switched it off warms up when they want to";
  seen.last_warm_up = runtime::LastWarmUp{.ended = true, .files_no_room = 2};
  EXPECT_EQ(why(), api::uncached::kNoRoom) << "and has done so";
  seen.last_warm_up->files_no_room = 0;
  EXPECT_EQ(why(), "") << "of a directory, say";
}

}  // namespace
}  // namespace paddle::controllers::sample_set
