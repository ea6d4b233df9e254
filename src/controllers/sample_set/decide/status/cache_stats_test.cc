// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/status/cache_stats.h"

#include <gtest/gtest.h>

#include "controllers/sample_set/testing/model_cluster.h"

namespace paddle::controllers::sample_set {
namespace {

using std::chrono::seconds;

TEST(SampleSetCacheStats, DoNotChangeWhenARuntimeMissesOnePoll) {
  ModelCluster model(model_set(2, true));
  model.settle();
  const auto before = model.set.status;
  model.environment_runs = false;
  model.silence(0, seconds(3));
  model.world.runtimes->ready = 2;
  model.pass();
  EXPECT_EQ(model.set.status.cache, before.cache);
  EXPECT_EQ(model.set.status.partitions, before.partitions);
  EXPECT_EQ(model.set.status.phase, "Ready");
}

}  // namespace
}  // namespace paddle::controllers::sample_set
