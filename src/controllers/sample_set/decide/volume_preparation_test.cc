// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/volume_preparation.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/sample_set/objects/owned_objects.h"
#include "controllers/sample_set/testing/model_cluster.h"

namespace paddle::controllers::sample_set {
namespace {

using std::chrono::seconds;

TEST(SampleSetVolumePreparation, ComesAfterTheCredentialsAndBeforeTheRuntimes) {
  ModelCluster model(model_set(2, true));
  const auto first = model.pass();
  EXPECT_EQ(count_created(first, OwnedKind::kCredentials), 1u);
  EXPECT_EQ(count_created(first, OwnedKind::kPreparation), 0u);
  const auto second = model.pass();
  EXPECT_EQ(count_created(second, OwnedKind::kPreparation), 1u);
  EXPECT_EQ(count_created(second, OwnedKind::kRuntimes), 0u);
  EXPECT_EQ(annotation(model.world.credentials->meta, kCopiedFrom), "s/1");
  model.settle();
  EXPECT_TRUE(model.world.runtimes);
  EXPECT_FALSE(model.world.preparation);  // no longer needed
  EXPECT_EQ(annotation(model.world.credentials->meta, kPreparedWith), "s/1");
}

TEST(SampleSetVolumePreparation, AFailureReportsItsErrorAndIsRetriedAfterGrowingDelays) {
  ModelCluster model(model_set(1, true));
  model.format_error = "the bucket does not exist";
  model.settle(6);
  EXPECT_EQ(model.condition("Ready").reason, "PreparationFailed");
  EXPECT_NE(model.condition("Ready").message.find("the bucket does not exist"), std::string::npos);
  EXPECT_FALSE(model.world.runtimes);
  const auto pod = model.world.preparation->meta.uid;
  model.settle();
  EXPECT_EQ(model.world.preparation->meta.uid, pod);
  model.now += seconds(10);
  model.settle();
  EXPECT_NE(model.world.preparation->meta.uid, pod);
  const auto second = model.world.preparation->meta.uid;
  model.now += seconds(10);
  model.settle();
  EXPECT_EQ(model.world.preparation->meta.uid, second);  // the second delay is 20 s
  model.format_error.clear();
  model.now += seconds(10);
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
}

TEST(SampleSetVolumePreparation, ANewSecretIsTriedAtOnce) {
  ModelCluster model(model_set(1, true));
  model.format_error = "access denied";
  model.settle();
  model.format_error.clear();
  model.put_secret("s/2", {{"metaurl", "redis://x"}, {"secret-key", "right"}});
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(annotation(model.world.credentials->meta, kPreparedWith), "s/2");
}

TEST(SampleSetVolumePreparation, ChangedCredentialsAreCopiedWhileTheRuntimesGoOn) {
  ModelCluster model(model_set(2, true));
  model.settle();
  const auto runtimes = model.world.runtimes->meta.uid;
  model.put_secret("s/2", {{"metaurl", "redis://x"}, {"secret-key", "rotated"}});
  const auto plan = model.pass();
  const auto copies = only<UpdateCredentials>(plan);
  ASSERT_EQ(copies.size(), 2u);
  EXPECT_EQ(copies[0].kind, OwnedKind::kCredentials);
  EXPECT_EQ(copies[1].kind, OwnedKind::kDriverCredentials);
  for (const auto& copy : copies) EXPECT_NE((*copy.data)["secret-key"], nullptr);
  EXPECT_TRUE(is_empty(model.settle()));
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.world.runtimes->meta.uid, runtimes);
  EXPECT_EQ(annotation(model.world.credentials->meta, kPreparedWith), "s/2");
}

TEST(SampleSetVolumePreparation, ChangedCredentialsPrepareTheVolumeAgainOrTheSetIsDegraded) {
  ModelCluster model(model_set(1, true));
  model.settle();
  model.format_error = "access denied";
  model.put_secret("s/2", {{"metaurl", "redis://x"}, {"secret-key", "wrong"}});
  std::vector<CreateObject> made;
  for (int i = 0; i < 6; ++i) {
    for (auto& each : only<CreateObject>(model.pass())) made.push_back(each);
  }
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ((*made[0].object)["spec"]["again"], true);
  EXPECT_EQ(model.condition("Degraded").reason, "CredentialsRefused");
  EXPECT_NE(model.condition("Degraded").message.find("access denied"), std::string::npos);
  EXPECT_EQ(model.set.status.phase, "Ready");  // with the previous credentials
  EXPECT_EQ(annotation(model.world.credentials->meta, kPreparedWith), "s/1");
  model.format_error.clear();
  model.put_secret("s/3", {{"metaurl", "redis://x"}, {"secret-key", "right"}});
  EXPECT_TRUE(is_empty(model.settle()));
  EXPECT_EQ(model.condition("Degraded").status, "False");
  EXPECT_EQ(annotation(model.world.credentials->meta, kPreparedWith), "s/3");
}

TEST(SampleSetVolumePreparation, ADeletedSecretLeavesTheCopyAndTheSetServes) {
  ModelCluster model(model_set(1, true));
  model.settle();
  model.world.secret->exists = false;  // the values are those of the copy
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.condition("Degraded").reason, "SecretGone");
  EXPECT_TRUE(model.world.credentials);
}

TEST(SampleSetVolumePreparation, ADeletedSourceSecretLeavesTheSetServing) {
  ModelCluster model(model_set(1, true));
  model.set.spec.source->secret = api::SecretReference{.name = "source-keys"};
  model.settle();
  model.world.source_secret_missing = true;
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.condition("Degraded").reason, "SecretGone");
  EXPECT_TRUE(model.condition("Degraded").message.starts_with("secret source-keys not found"));
  model.world.secret->exists = false;
  model.settle();
  EXPECT_TRUE(
      model.condition("Degraded").message.starts_with("secrets keys and source-keys not found"));
}

TEST(SampleSetVolumePreparation, ThePodIsCreatedAgainWhenItsNodeIsLost) {
  for (const bool leaving : {false, true}) {
    ModelCluster model(model_set(1, true));
    while (!model.world.preparation) {
      model.environment_runs = false;
      model.pass();
    }
    api::Pod& pod = *model.world.preparation;
    const std::string uid = pod.meta.uid;
    pod.node = "node-5";
    pod.phase = api::PodPhase::kRunning;
    model.world.runtime_nodes["node-5"] = NodeSummary{.ready = false, .unready_since = model.now};
    if (leaving) pod.meta.deleted = model.now;
    EXPECT_TRUE(only<DeleteObject>(model.pass()).empty());
    model.now += seconds(leaving ? 5 : 25);
    const auto gone = only<DeleteObject>(model.pass());
    ASSERT_EQ(gone.size(), 1u);
    EXPECT_EQ(gone[0].uid, uid);
    EXPECT_TRUE(gone[0].force);
    model.environment_runs = true;
    model.settle();
    EXPECT_EQ(model.set.status.phase, "Ready");
  }
}

TEST(SampleSetVolumePreparation, ThePodIsNotReplacedWhenNoNodeIsReady) {
  ModelCluster model(model_set(1, true));
  model.environment_runs = false;
  while (!model.world.preparation) model.pass();
  model.world.preparation->node = "node-5";
  model.world.runtime_nodes["node-5"] = NodeSummary{.ready = false, .unready_since = model.now};
  model.world.any_node_ready = false;
  model.now += seconds(60);
  EXPECT_TRUE(only<DeleteObject>(model.pass()).empty());
}

}  // namespace
}  // namespace paddle::controllers::sample_set
