// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/status/conditions.h"

#include <gtest/gtest.h>

#include "controllers/sample_set/config.h"
#include "controllers/sample_set/testing/model_cluster.h"

namespace paddle::controllers::sample_set {
namespace {

TEST(SampleSetConditions, SamplesLeftOutAreCountedInTheStatusAndReportedOnce) {
  ModelCluster model(model_set());
  model.settle();
  EXPECT_EQ(api::find_condition(model.set.status.conditions, "SamplesLeftOut"), nullptr);
  model.environment_runs = false;
  auto& index = *model.world.runtime_reports[0].status->index;
  index.left_out = {.count = 3, .examples = {"'a//b' (an empty part)", "'p' (no regular file)"}};
  const auto events = only<EmitEvent>(model.pass());
  ASSERT_EQ(events.size(), 1u);
  EXPECT_TRUE(events[0].warning);
  EXPECT_EQ(events[0].reason, "SamplesLeftOut");
  EXPECT_EQ(events[0].message.find("3 objects of the source are left out: 'a//b' (an empty part), "
                                   "'p' (no regular file) and 1 more; "),
            0u)
      << events[0].message;
  EXPECT_EQ(model.set.status.index->left_out, 3);
  EXPECT_EQ(model.set.status.index->left_out_examples.size(), 2u);
  EXPECT_EQ(model.condition("SamplesLeftOut").status, "True");
  EXPECT_EQ(model.condition("SamplesLeftOut").message, events[0].message);
  EXPECT_EQ(model.set.status.phase, "Ready") << "the rest is served";
  EXPECT_TRUE(is_empty(model.pass())) << "only once";

  index.left_out.count = 4;
  EXPECT_EQ(only<EmitEvent>(model.pass()).size(), 1u) << "other samples are left out";
  model.world.runtime_reports[0].status.reset();  // it misses one poll
  model.world.runtime_reports[0].error = "timeout";
  EXPECT_TRUE(only<EmitEvent>(model.pass()).empty());
  EXPECT_EQ(model.set.status.index->left_out, 4);
}

TEST(SampleSetIndexStatus, HasTheTimeAtWhichItsGenerationWasFirstSeen) {
  ModelCluster model(model_set());
  model.settle();
  ASSERT_TRUE(model.set.status.index->sync_time);
  const WallTime first = *model.set.status.index->sync_time;
  model.environment_runs = false;
  model.now += std::chrono::hours{1};
  model.pass();
  EXPECT_EQ(model.set.status.index->sync_time, first) << "nothing was published since";
  model.world.runtime_reports[0].status->index->digest = "another";
  model.pass();
  EXPECT_EQ(model.set.status.index->sync_time, model.now);
}

TEST(SampleSetConditions, SamplesLeftOutIsRemovedWhenNothingIsLeftOut) {
  ModelCluster model(model_set());
  model.settle();
  model.environment_runs = false;
  auto& index = *model.world.runtime_reports[0].status->index;
  index.left_out = {.count = 1, .examples = {}};
  model.pass();
  EXPECT_EQ(model.condition("SamplesLeftOut").message.find("1 object of the source is left out; "),
            0u);
  index.left_out = {};
  EXPECT_TRUE(only<EmitEvent>(model.pass()).empty());
  EXPECT_EQ(api::find_condition(model.set.status.conditions, "SamplesLeftOut"), nullptr);
  EXPECT_EQ(model.set.status.index->left_out, 0);
}

TEST(SampleSetConditions, VolumeSharedNamesTheOtherSets) {
  ModelCluster model(model_set());
  model.world.volume_sharers = {"coco", "places"};
  model.set.status.engine = "juicefs";
  const auto shared = volume_shared_condition(model.set, model.world);
  ASSERT_TRUE(shared);
  EXPECT_EQ(shared->status + " " + shared->reason, "True FilesMix");
  EXPECT_TRUE(
      shared->message.starts_with("the SampleSet coco and 1 more sync into the same volume"))
      << shared->message;
  model.world.volume_sharers.clear();
  EXPECT_FALSE(volume_shared_condition(model.set, model.world));
}

TEST(SampleSetConditions, DegradedListsEveryProblemAndHasTheReasonNoNode) {
  ModelCluster model(model_set(3, true), 3);
  model.settle();
  model.lose_node(model.node_of(1));
  model.settle();
  model.environment_runs = false;
  model.silence(0, kSilentAfter);
  model.pass();
  const auto& degraded = model.condition("Degraded");
  EXPECT_EQ(degraded.reason, "NoNode");  // this reason releases workers
  EXPECT_NE(degraded.message.find("runtime 0 has not answered"), std::string::npos);
  EXPECT_NE(degraded.message.find("runtime 1 cannot be scheduled"), std::string::npos);
  EXPECT_EQ(degraded.message.find("runtime 2"), std::string::npos);
}

TEST(SampleSetConditions, DegradedWhileASourceDoesNotAnswer) {
  ModelCluster model(model_set(3), 3);
  model.settle();
  model.environment_runs = false;
  for (const int partition : {0, 2}) {
    model.world.runtime_reports[static_cast<std::size_t>(partition)].status->source_error =
        "s3://bucket does not answer";
  }
  model.pass();
  const auto& degraded = model.condition("Degraded");
  EXPECT_EQ(degraded.status, "True");
  EXPECT_EQ(degraded.reason, "SourceUnavailable");
  EXPECT_EQ(degraded.message,
            "runtimes 0 and 2: s3://bucket does not answer; cached samples are read further");
  EXPECT_EQ(model.set.status.phase, "Ready") << "what is cached can be read";
  for (auto& report : model.world.runtime_reports) report.status->source_error.clear();
  model.pass();
  EXPECT_EQ(model.condition("Degraded").status, "False");
}

TEST(SampleSetConditions, WarmedHasTheRemarksOfAllRuntimes) {
  ModelCluster model(model_set(3), 3);
  model.settle();
  model.environment_runs = false;
  const auto remark = [&](std::size_t partition) -> std::string& {
    return model.world.runtime_reports[partition].status->remark;
  };
  remark(1) = "the disk is full";
  model.pass();
  EXPECT_TRUE(model.condition("Warmed").message.ends_with("; runtime 1: the disk is full"))
      << model.condition("Warmed").message;
  remark(0) = "damaged blocks";
  remark(2) = "the disk is full";
  model.pass();
  EXPECT_TRUE(model.condition("Warmed").message.ends_with(
      "; runtime 0: damaged blocks; runtimes 1 and 2: the disk is full"))
      << model.condition("Warmed").message;
  for (std::size_t i = 0; i < 3; ++i) remark(i).clear();
  model.pass();
  EXPECT_EQ(model.condition("Warmed").message.find("runtime"), std::string::npos);
}

TEST(SampleSetConditions, DegradedIsNoNodeUntilEveryRuntimeHasANode) {
  for (const bool shares_volume : {false, true}) {
    ModelCluster model(model_set(2, shares_volume), 1);
    model.settle();
    EXPECT_NE(model.set.status.phase, "Ready");
    EXPECT_EQ(model.condition("Degraded").reason, "NoNode");
    EXPECT_NE(model.condition("Degraded").message.find("no node has room"), std::string::npos);
    model.heal_node("node-9");  // a new one
    model.settle();
    EXPECT_EQ(model.set.status.phase, "Ready");
    EXPECT_EQ(model.condition("Degraded").status, "False");
  }
}

TEST(SampleSetConditions, ReadyShowsARejectedCreationUntilItSucceeds) {
  ModelCluster model(model_set());
  model.world.rejections.creation = BlockReason{"ErrorCreatePVC", "exceeded quota: small"};
  const auto plan = model.pass();
  EXPECT_EQ(ready_reason(plan), "ErrorCreatePVC");
  EXPECT_EQ(model.condition("Ready").message, "exceeded quota: small");
  EXPECT_TRUE(plan.requeue_after);
  model.world.rejections.creation.reset();  // the next pass tries again
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
}

TEST(SampleSetConditions, DegradedShowsRejectedWritesAndEachEmitsOneEvent) {
  ModelCluster model(model_set());
  model.settle();
  model.world.rejections.writes = {"change StatefulSet imagenet-runtime: bad",
                                   "label node node-0: no"};
  const auto plan = model.pass();
  EXPECT_EQ(only<EmitEvent>(plan).size(), 2u);
  EXPECT_EQ(only<EmitEvent>(plan)[0].reason, "ActionRefused");
  EXPECT_EQ(model.condition("Degraded").reason, "ActionRefused");
  EXPECT_NE(model.condition("Degraded").message.find("imagenet-runtime: bad"), std::string::npos);
  EXPECT_NE(model.condition("Degraded").message.find("node-0: no"), std::string::npos);
  EXPECT_EQ(model.condition("Ready").status, "True");
  EXPECT_TRUE(only<EmitEvent>(model.pass()).empty());
  model.world.rejections.writes.emplace_back("set the owners of PVC imagenet: no");
  EXPECT_EQ(only<EmitEvent>(model.pass()).size(), 1u);
  model.world.rejections.writes.clear();
  model.pass();
  EXPECT_EQ(model.condition("Degraded").status, "False");
}

}  // namespace
}  // namespace paddle::controllers::sample_set
