// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/plan.h"

#include <gtest/gtest.h>

#include "controllers/sample_set/testing/model_cluster.h"

namespace paddle::controllers::sample_set {
namespace {

TEST(SampleSetPlan, CreatesWhatIsMissingInOnePassAndTheVolumeOnceItsClaimHasAUid) {
  ModelCluster model(model_set());
  const auto created = [&] {
    std::vector<OwnedKind> kinds;
    for (const auto& a : only<CreateObject>(model.pass())) kinds.push_back(a.kind);
    return kinds;
  };
  EXPECT_EQ(created(), (std::vector{OwnedKind::kToken, OwnedKind::kClaim, OwnedKind::kService,
                                    OwnedKind::kPolicy, OwnedKind::kRuntimes}));
  EXPECT_EQ(model.set.status.engine, "samplefs");
  EXPECT_EQ(created(), std::vector{OwnedKind::kVolume});
  EXPECT_EQ(model.world.volume->claim_uid, model.world.claim->meta.uid);
}

TEST(SampleSetPlan, GoesThroughThePhasesOfTheContract) {
  ModelCluster model(model_set());
  std::vector<std::string> phases{""};
  for (int i = 0; i < 24; ++i) {
    model.pass();
    if (model.set.status.phase != phases.back()) phases.push_back(model.set.status.phase);
  }
  EXPECT_EQ(phases, (std::vector<std::string>{"", "Mount", "PartialReady", "Ready"}));
  EXPECT_EQ(model.set.status.cache->total_size, "1000 B");
  EXPECT_EQ(model.set.status.cache->cached_size, "1000 B");
  EXPECT_EQ(model.set.status.runtime->runtime_ready, "1/1");
  EXPECT_EQ(model.set.status.index->generation, 1);
  for (const char* type : {"Bound", "RuntimeReady", "Synced", "Warmed", "Ready"}) {
    EXPECT_EQ(model.condition(type).status, "True") << type;
    EXPECT_EQ(model.condition(type).observed_generation, 1) << type;
  }
  EXPECT_EQ(model.condition("Degraded").status, "False");
}

TEST(SampleSetPlan, SettlesForAnyNumberOfPartitionsAndThenIsEmpty) {
  for (const int partitions : {1, 2, 5}) {
    ModelCluster model(model_set(partitions));
    const auto plan = model.settle();
    EXPECT_TRUE(is_empty(plan)) << partitions << ": " << actions_of(plan).size();
    EXPECT_EQ(model.set.status.phase, "Ready");
    EXPECT_EQ(model.world.node_labels.size(), static_cast<size_t>(partitions));
  }
}

TEST(SampleSetPlan, FollowsAChangeOfPartitionsAtAnyTime) {
  ModelCluster model(model_set(2));
  model.settle();
  for (const int partitions : {5, 1}) {
    model.set.spec.partitions = partitions;
    ++model.set.meta.generation;
    EXPECT_TRUE(is_empty(model.settle()));
    EXPECT_EQ(model.set.status.phase, "Ready");
    EXPECT_EQ(model.world.runtimes->replicas, partitions);
    EXPECT_EQ(model.world.node_labels.size(), static_cast<size_t>(partitions));
    EXPECT_EQ(model.set.status.partitions.size(), static_cast<size_t>(partitions));
  }
}

TEST(SampleSetPlan, SettlesWhateverObjectsAreDeleted) {
  for (unsigned gone = 0; gone < 32; ++gone) {
    ModelCluster model(model_set(2));
    model.settle();
    if (gone & 1u) model.world.token.reset();
    if (gone & 2u) model.world.volume.reset();
    if (gone & 4u) model.world.claim.reset();
    if (gone & 8u) model.world.service.reset();
    if (gone & 16u) model.world.runtimes.reset();
    EXPECT_TRUE(is_empty(model.settle())) << gone;
    EXPECT_EQ(model.set.status.phase, "Ready") << gone;
  }
}

}  // namespace
}  // namespace paddle::controllers::sample_set
