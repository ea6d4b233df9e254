// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/runtime_liveness.h"

#include <gtest/gtest.h>

#include "controllers/sample_set/config.h"
#include "controllers/sample_set/decide/job_ids.h"
#include "controllers/sample_set/testing/model_cluster.h"
#include "engine/names.h"

namespace paddle::controllers::sample_set {
namespace {

using std::chrono::seconds;

TEST(SampleSetRuntimeLiveness, ALostRuntimeMakesTheSetPartialReadyAndIsNotSyncedAgain) {
  ModelCluster model(model_set(2));
  model.settle();
  model.environment_runs = false;
  model.world.runtime_reports.pop_back();
  model.world.pods.pop_back();
  model.world.runtimes->ready = 1;
  const auto sync = model.set.status.jobs->sync;
  const auto plan = model.pass();
  EXPECT_EQ(model.set.status.phase, "PartialReady");
  EXPECT_EQ(model.set.status.jobs->sync, sync);
  EXPECT_TRUE(only<PutJob>(plan).empty());
  EXPECT_EQ(model.set.status.runtime->runtime_ready, "1/2");
}

TEST(SampleSetRuntimeLiveness, AnOlderNamesakeKeepsTheSharedNodeLabel) {
  ModelCluster model(model_set());
  const std::string shared = engine::cache_label(model.set, "samplefs");
  const std::string own = engine::node_label(model.set);
  model.world.has_older_namesake = true;
  // Theirs; they may use the same node.
  model.world.node_labels["theirs"][shared] = "imagenet-runtime-0";
  model.world.node_labels["node-0"][shared] = "imagenet-runtime-0";
  EXPECT_TRUE(is_empty(model.settle()));
  EXPECT_TRUE(model.world.node_labels["theirs"].contains(shared));
  EXPECT_TRUE(model.world.node_labels["node-0"].contains(shared));
  EXPECT_EQ(model.world.node_labels["node-0"][own], "imagenet-runtime-0");
  EXPECT_EQ(model.violation, "");
}

TEST(SampleSetRuntimeLiveness, ASetGetsTheSharedNodeLabelWhenItsOlderNamesakeIsGone) {
  ModelCluster model(model_set());
  const std::string shared = engine::cache_label(model.set, "samplefs");
  model.world.has_older_namesake = true;
  EXPECT_TRUE(is_empty(model.settle()));
  EXPECT_FALSE(model.world.node_labels["node-0"].contains(shared));
  model.world.has_older_namesake = false;
  EXPECT_TRUE(is_empty(model.settle()));
  EXPECT_TRUE(model.world.node_labels["node-0"].contains(shared));
}

TEST(SampleSetRuntimeLiveness, OnlyPodsOfTheStatefulSetAreAskedForAnything) {
  ModelCluster model(model_set(2));
  model.settle();
  ASSERT_EQ(running_runtimes(model.set, model.world).size(), 2u);
  model.world.pods[0].meta.owners.front().uid = "of-a-stranger";
  EXPECT_EQ(running_runtimes(model.set, model.world).size(), 1u);
  model.world.pods[1].meta.owners.clear();
  EXPECT_TRUE(running_runtimes(model.set, model.world).empty());
}

TEST(SampleSetRuntimeLiveness, ASilentRuntimeLosesItsNodeLabelAndNothingElse) {
  ModelCluster model(model_set(2, true));
  model.settle();
  const auto node = model.node_of(1);
  model.environment_runs = false;
  model.silence(1, kSilentAfter - seconds(1));
  EXPECT_TRUE(only<LabelNode>(model.pass()).empty());
  EXPECT_EQ(model.set.status.phase, "PartialReady");  // its readiness probe fails, too
  EXPECT_EQ(model.condition("Degraded").status, "False");

  model.silence(1, kSilentAfter);
  const auto plan = model.pass();
  EXPECT_FALSE(model.world.node_labels.contains(node));
  EXPECT_EQ(model.condition("Degraded").reason, "RuntimeSilent");
  EXPECT_EQ(model.set.status.partitions[1].cached_bytes, 0);
  model.silence(1, seconds(3600));
  EXPECT_TRUE(only<ReplaceRuntime>(model.pass()).empty());  // its node is Ready

  model.silence(1, seconds(0));
  model.environment_runs = true;
  model.settle();
  EXPECT_TRUE(model.world.node_labels.contains(node));
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.condition("Degraded").status, "False");
}

// A new operator does not know for how long the runtime has been silent.
TEST(SampleSetRuntimeLiveness, ANewOperatorLabelsNoNodeWhoseRuntimeHasNotAnsweredIt) {
  ModelCluster model(model_set(2, true));
  model.settle();
  const auto node = model.node_of(1);
  model.environment_runs = false;
  model.silence(1, kSilentAfter);
  model.pass();
  EXPECT_FALSE(model.world.node_labels.contains(node));
  model.silence(1, seconds(1));
  EXPECT_TRUE(only<LabelNode>(model.pass()).empty());
  EXPECT_EQ(model.condition("Degraded").reason, "RuntimeSilent");
  model.silence(0, seconds(1));  // it had answered, and keeps its label
  EXPECT_TRUE(only<LabelNode>(model.pass()).empty());
  EXPECT_TRUE(model.world.node_labels.contains(model.node_of(0)));
  for (const int partition : {0, 1}) model.silence(partition, seconds(0));
  EXPECT_EQ(only<LabelNode>(model.pass()).size(), 2u);
  EXPECT_EQ(model.condition("Degraded").status, "False");
}

TEST(SampleSetRuntimeLiveness, RuntimesArePolledAtTheSamePaceWhateverTheSetWaitsFor) {
  const auto pace = [](ModelCluster& model) { return *model.pass().requeue_after; };
  {
    ModelCluster model(model_set(1));
    model.sync_error = "no such bucket";
    for (int i = 0; i < 12; ++i) {
      model.settle(6);
      model.now += seconds(1000);
    }
    model.settle(6);
    EXPECT_GT(retry_delay(model.set.status.jobs->sync), seconds(100));
    EXPECT_EQ(model.set.status.phase, "SyncFailed");
    EXPECT_EQ(pace(model), seconds(5));
  }
  ModelCluster model(model_set(1, true));
  model.settle();
  model.format_error = "access denied";
  model.put_secret("s/2", {{"metaurl", "redis://x"}, {"secret-key", "wrong"}});
  model.settle();
  EXPECT_EQ(model.condition("Degraded").reason, "CredentialsRefused");
  EXPECT_LE(pace(model), seconds(5));
  model.put_secret("s/3", {{"no", "metaurl"}});
  model.settle();
  EXPECT_EQ(pace(model), seconds(5));
  model.environment_runs = false;
  model.silence(0, seconds(1));
  EXPECT_EQ(pace(model), seconds(2));
}

TEST(SampleSetRuntimeLiveness, APartitionOfALostNodeMovesAndIsWarmedUpThere) {
  for (const bool shares_volume : {false, true}) {
    ModelCluster model(model_set(2, shares_volume));
    model.settle();
    const std::string id = model.set.status.jobs->warmup;
    const int puts = model.puts_of(id);
    const auto lost = model.node_of(1);
    model.lose_node(lost);
    const auto plan = model.pass();
    ASSERT_EQ(only<ReplaceRuntime>(plan).size(), 1u);
    EXPECT_TRUE(only<ReplaceRuntime>(plan)[0].force);
    EXPECT_EQ(model.set.status.phase, "PartialReady");
    model.settle();
    EXPECT_NE(model.node_of(1), lost);
    EXPECT_EQ(model.set.status.phase, "Ready");
    EXPECT_EQ(model.puts_of(id), puts + 1);
    EXPECT_FALSE(model.world.node_labels.contains(lost));
    EXPECT_EQ(model.violation, "");
  }
}

TEST(SampleSetRuntimeLiveness, NoRuntimeIsReplacedWhenNoneAnswers) {
  ModelCluster model(model_set(2, true));
  model.settle();
  model.environment_runs = false;
  for (const int partition : {0, 1}) model.silence(partition, seconds(3600));
  EXPECT_TRUE(only<ReplaceRuntime>(model.pass()).empty());
  for (int i = 0; i < 6; ++i) model.lose_node("node-" + std::to_string(i));
  EXPECT_TRUE(only<ReplaceRuntime>(model.pass()).empty());  // rather the network
}

TEST(SampleSetRuntimeLiveness, WithoutAFreeNodeTheSetIsDegradedUntilOneReturns) {
  ModelCluster model(model_set(2, true), 2);
  model.settle();
  const auto lost = model.node_of(1);
  model.lose_node(lost);
  model.settle();
  EXPECT_EQ(model.set.status.phase, "PartialReady");
  EXPECT_EQ(model.world.node_labels.size(), 1u);
  EXPECT_EQ(model.condition("Degraded").reason, "NoNode");
  model.heal_node(lost);
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
}

TEST(SampleSetRuntimeLiveness, AnOverduePodOfALostNodeIsDeleted) {
  ModelCluster model(model_set(1));
  model.settle();
  model.lose_node(model.node_of(0));
  model.environment_runs = false;
  model.world.runtime_reports.clear();
  model.world.pods[0].meta.deleted = model.now;
  EXPECT_TRUE(only<ReplaceRuntime>(model.pass()).empty());
  model.now += seconds(5);
  EXPECT_EQ(only<ReplaceRuntime>(model.pass()).size(), 1u);
}

}  // namespace
}  // namespace paddle::controllers::sample_set
