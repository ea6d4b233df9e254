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
    bool set_early = false;
    for (int i = 0; i < 40; ++i) {
      model.pass();
      for (const auto& one : model.set.status.partitions) {
        set_early = set_early || !one.uncached_reason.empty();
      }
    }
    EXPECT_FALSE(set_early) << "a warm-up is pending, or all of it is cached";
    model.clear_cache(1);
    model.settle();
    EXPECT_EQ(why(0), "");
    EXPECT_EQ(why(1), api::uncached::kCleared);
    model.lose_journal(1);  // the runtime has forgotten the clear
    model.settle();
    EXPECT_EQ(why(1), api::uncached::kCleared);
    model.silence(1, seconds(3));
    model.pass();
    EXPECT_EQ(why(1), api::uncached::kCleared) << "it misses one poll";
    model.silence(1, {});
    model.lose_node(model.node_of(1));
    model.pass();
    EXPECT_EQ(why(1), "") << "it is warmed up on its new node";
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
  auto& status = *model.world.runtime_reports[0].status;
  status.part_cached_bytes = 990;
  const auto why = [&] {
    model.pass();
    return model.set.status.partitions[0].uncached_reason;
  };
  EXPECT_EQ(why(), api::uncached::kPartly);
  status.last_warm_up = runtime::LastWarmUp{.ended = false, .files_no_room = 2};
  EXPECT_EQ(why(), "");
  status.last_warm_up->ended = true;
  EXPECT_EQ(why(), api::uncached::kNoRoom);
  status.last_warm_up->cleared_since = true;
  EXPECT_EQ(why(), api::uncached::kCleared);

  model.set.spec.warmup = api::AutoWarmup{.enabled = false};
  EXPECT_EQ(why(), "") << "users start warm-ups when they want to";
  status.last_warm_up = runtime::LastWarmUp{.ended = true, .files_no_room = 2};
  EXPECT_EQ(why(), api::uncached::kNoRoom) << "a user has started one";
  status.last_warm_up->files_no_room = 0;
  EXPECT_EQ(why(), "") << "it may have been for one directory";
}

}  // namespace
}  // namespace paddle::controllers::sample_set
