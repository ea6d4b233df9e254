// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/first_sync.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "controllers/sample_set/objects/owned_objects.h"
#include "controllers/sample_set/testing/model_cluster.h"
#include "engine/names.h"

namespace paddle::controllers::sample_set {
namespace {

using std::chrono::seconds;

// Lets time pass, and the cluster settle.
void wait(ModelCluster& model, seconds how_long) {
  model.now += how_long;
  model.settle(8);
}

std::string id_of(const ModelCluster& model, size_t part) {
  return model.set.status.sync->parts.at(part).id;
}

TEST(SampleSetFirstSync, IsSharedByAllRuntimesAndCountsOnceWhenTheLastPartHasEnded) {
  ModelCluster model(model_set(3, true));
  model.slow = {2};
  model.settle();
  const std::string sync = model.set.status.jobs->sync;
  ASSERT_TRUE(model.set.status.sync);
  ASSERT_EQ(model.set.status.sync->parts.size(), 3u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(model.puts_of(id_of(model, 0)), 3);
  EXPECT_EQ(model.set.status.phase, "Syncing");
  EXPECT_EQ(model.condition("Synced").status, "Unknown");
  EXPECT_EQ(model.condition("Synced").message,
            "0 of 30 files, 240 B of 300 B, 2 B/s, 30 s left");  // the sum of the parts
  EXPECT_EQ(model.puts_of(sync), 0);
  model.slow.clear();
  model.settle();
  EXPECT_EQ(model.condition("Synced").status, "True");
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.puts_of(sync), 1);
  EXPECT_FALSE(model.set.status.sync);
  EXPECT_EQ(model.set.status.index->generation, 1);
  EXPECT_EQ(model.violation, "");
}

TEST(SampleSetFirstSync, OfASetWithOnePartitionIsOneJob) {
  ModelCluster model(model_set(1, true));
  model.slow = {0};
  model.settle();
  EXPECT_FALSE(model.set.status.sync);
  EXPECT_EQ(model.jobs_at(0), std::set<std::string>{model.set.status.jobs->sync});
}

TEST(SampleSetFirstSync, ASyncOfAnOlderOperatorGoesOnAndIsNotRestarted) {
  ModelCluster model(model_set(3, true));
  model.slow = {0, 1, 2};
  model.settle();
  model.set.status.sync.reset();  // older operators store no parts: runtime 0 syncs alone
  model.lose_journal(0);
  model.lose_journal(1);
  model.lose_journal(2);
  model.settle();
  const std::string sync = model.set.status.jobs->sync;
  EXPECT_EQ(model.jobs_at(0), std::set<std::string>{sync});
  EXPECT_EQ(model.jobs_at(1), std::set<std::string>{});
  model.slow.clear();
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.set.status.jobs->sync, sync);
  EXPECT_EQ(model.puts_of(sync), 1);
}

TEST(SampleSetFirstSync, AFailedPartIsRetriedAndTheOthersAreNot) {
  ModelCluster model(model_set(3, true));
  model.part_errors[1] = "no route to host";
  model.slow = {2};
  model.settle();
  const std::string first = id_of(model, 0);
  EXPECT_EQ(model.set.status.phase, "Syncing");  // one part still runs
  EXPECT_EQ(model.set.status.sync->parts[1].message, "no route to host");
  model.slow.clear();
  model.settle();
  EXPECT_EQ(model.set.status.phase, "SyncFailed");
  EXPECT_NE(model.condition("Synced").message.find("partition 1"), std::string::npos);
  EXPECT_NE(model.condition("Synced").message.find("no route to host"), std::string::npos);
  model.part_errors.clear();
  model.settle();
  EXPECT_EQ(model.set.status.phase, "SyncFailed");  // not yet
  wait(model, seconds(10));
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.puts_of(first), 3);
  EXPECT_EQ(model.puts_of(first + ".r1"), 1);
  EXPECT_EQ(model.violation, "");
}

TEST(SampleSetFirstSync, APartThatFailsAgainWaitsLonger) {
  ModelCluster model(model_set(2, true));
  model.part_errors[1] = "no route to host";
  model.settle();
  const std::string first = id_of(model, 0);
  wait(model, seconds(10));
  EXPECT_EQ(id_of(model, 1), first + ".r1");
  wait(model, seconds(10));
  EXPECT_EQ(id_of(model, 1), first + ".r1");
  wait(model, seconds(10));
  EXPECT_EQ(id_of(model, 1), first + ".r2");
  EXPECT_EQ(id_of(model, 0), first);
}

TEST(SampleSetFirstSync, ASourceThatCannotBeReadFailsTheSyncAndARetryHasAnotherId) {
  ModelCluster model(model_set(3, true));
  model.sync_error = "no such bucket";
  model.settle();
  const std::string sync = model.set.status.jobs->sync;
  EXPECT_EQ(model.set.status.phase, "SyncFailed");
  model.sync_error.clear();
  wait(model, seconds(10));
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_NE(model.set.status.jobs->sync, sync);
}

TEST(SampleSetFirstSync, AChangedSpecAfterAFailureIsAnotherSync) {
  ModelCluster model(model_set(3, true));
  model.part_errors[1] = "no such key";
  model.settle();
  const std::string sync = model.set.status.jobs->sync;
  EXPECT_EQ(model.set.status.phase, "SyncFailed");
  model.part_errors.clear();
  model.set.meta.generation += 1;
  model.settle();
  EXPECT_NE(model.set.status.jobs->sync, sync);
  EXPECT_EQ(model.set.status.phase, "Ready");
}

// The source is a part of the pods' template: a pod of the previous template would copy from the
// previous source.
TEST(SampleSetFirstSync, NoRuntimeOfThePreviousTemplateReadsACorrectedSource) {
  for (const int nodes : {2, 3}) {  // with two, one runtime has no node
    ModelCluster model(model_set(3, true), nodes);
    model.sync_error = "no such bucket";
    model.settle();
    EXPECT_EQ(model.set.status.phase, "SyncFailed");
    std::set<std::string> old;
    for (api::Pod& pod : model.world.pods) {
      old.insert(pod.meta.uid);
      if (!pod.node.empty()) {
        pod.containers = {{.ready = true, .state = api::ContainerStatus::State::kRunning}};
      }
    }
    model.sync_error.clear();
    model.set.spec.source->uri = "s3://right/images";
    ++model.set.meta.generation;
    model.pass();
    model.environment_runs = false;
    const auto plan = model.pass();
    EXPECT_EQ(only<ReplaceRuntime>(plan).size(), 3u) << "all at once: there are no readers yet";
    EXPECT_TRUE(only<PutJob>(plan).empty());
    model.environment_runs = true;
    for (int i = 0; i < 8; ++i) {
      for (const auto& put : only<PutJob>(model.pass())) {
        const auto pod = std::ranges::find_if(model.world.pods, [&](const api::Pod& each) {
          return each.meta.key.name == engine::runtime_pod_name(model.set, put.partition);
        });
        ASSERT_NE(pod, model.world.pods.end());
        EXPECT_FALSE(old.contains(pod->meta.uid));
      }
    }
    wait(model, seconds(60));
    model.settle();
    EXPECT_EQ(model.condition("Synced").status, "True") << nodes;
    EXPECT_EQ(model.violation, "");
  }
}

TEST(SampleSetFirstSync, IsSentToNoRuntimeOfAPreviousTemplate) {
  for (const bool shares_volume : {false, true}) {
    for (const int partitions : {1, 2}) {
      ModelCluster model(model_set(partitions, shares_volume));
      while (!model.set.status.jobs) model.pass();
      model.environment_runs = false;
      for (api::Pod& pod : model.world.pods) pod.meta.annotations[kTemplateHash] = "old";
      const auto plan = model.pass();
      EXPECT_TRUE(only<PutJob>(plan).empty());
      EXPECT_EQ(only<ReplaceRuntime>(plan).size(), static_cast<size_t>(partitions));
      model.environment_runs = true;
      model.settle(32);
      EXPECT_EQ(model.set.status.phase, "Ready");
    }
  }
}

TEST(SampleSetFirstSync, ARuntimeThatStartsLateGetsItsPart) {
  ModelCluster model(model_set(3, true), 2);  // on two nodes
  model.slow = {0};
  model.settle();
  const std::string first = id_of(model, 0);
  EXPECT_EQ(model.puts_of(first), 2);
  EXPECT_EQ(model.set.status.sync->parts[2].message, "its runtime is away");
  model.heal_node("late");
  model.settle();
  EXPECT_EQ(model.puts_of(first), 3);
  model.slow.clear();
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.violation, "");
}

TEST(SampleSetFirstSync, ThePartOfARuntimeThatNeverStartsIsDoneByTheOthers) {
  ModelCluster model(model_set(3, true), 2);
  model.settle();
  EXPECT_EQ(model.condition("Synced").status, "Unknown");
  wait(model, seconds(60));
  model.settle();
  EXPECT_EQ(model.condition("Synced").status, "True");
  EXPECT_EQ(model.set.status.index->generation, 1);
  EXPECT_EQ(model.violation, "");
}

TEST(SampleSetFirstSync, AKilledRuntimeGoesOnWithItsPart) {
  for (int killed = 0; killed < 3; ++killed) {
    ModelCluster model(model_set(3, true));
    model.slow = {0, 1, 2};
    model.settle();
    const std::string first = id_of(model, 0);
    model.lose_journal(killed);  // and its disk
    model.settle();
    EXPECT_EQ(model.puts_of(first), 4);
    EXPECT_EQ(model.jobs_at(killed), std::set<std::string>{first});
    model.slow.clear();
    model.settle(32);
    EXPECT_EQ(model.set.status.phase, "Ready") << killed;
    EXPECT_EQ(model.violation, "");
  }
}

TEST(SampleSetFirstSync, ARuntimeThatReturnsAfterItsPartWasReassignedIsCancelled) {
  ModelCluster model(model_set(3, true));
  model.slow = {2};
  model.settle();
  const std::string first = id_of(model, 0);
  model.silence(2, seconds(30));
  model.settle();
  model.slow = {0, 1, 2};
  wait(model, seconds(60));
  EXPECT_EQ(model.set.status.sync->parts.size(), 2u);
  ASSERT_EQ(model.set.status.sync->left.size(), 1u);
  EXPECT_NE(id_of(model, 0), first);
  model.silence(2, seconds(0));
  model.settle();
  EXPECT_EQ(model.jobs_at(2), std::set<std::string>{});
  EXPECT_TRUE(model.set.status.sync->left.empty());
  model.slow.clear();
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
}

TEST(SampleSetFirstSync, ACancellationThatFailedIsRepeated) {
  ModelCluster model(model_set(3, true));
  model.slow = {2};
  model.settle();
  const std::string first = id_of(model, 2);
  model.silence(2, seconds(30));
  model.settle();
  model.slow = {0, 1, 2};
  wait(model, seconds(60));
  ASSERT_EQ(model.set.status.sync->left.size(), 1u);
  model.environment_runs = false;
  model.silence(2, seconds(0));
  model.world.rejections.cancellations = {{2, first}};
  EXPECT_EQ(only<CancelJob>(model.pass()), (std::vector{CancelJob{2, first}}));
  ASSERT_EQ(model.set.status.sync->left.size(), 1u);
  EXPECT_EQ(model.set.status.sync->left[0].id, first);
  model.world.rejections.cancellations.clear();
  EXPECT_EQ(only<CancelJob>(model.pass()), (std::vector{CancelJob{2, first}}));
  EXPECT_TRUE(model.set.status.sync->left.empty());
}

TEST(SampleSetFirstSync, PartitionsMayChangeWhileItRuns) {
  for (const auto& counts : std::vector<std::vector<int>>{{1, 3, 2}, {3, 2}, {3, 1}, {2, 3}}) {
    ModelCluster model(model_set(counts[0], true));
    model.slow = {0, 1, 2};
    model.settle();
    for (const int count : counts) {
      model.repartition(count);
      model.settle();
      EXPECT_EQ(model.set.status.phase, "Syncing");
    }
    for (int i = 0; i < counts.back(); ++i) EXPECT_LE(model.jobs_at(i).size(), 1u);
    model.slow.clear();
    model.settle(32);
    EXPECT_EQ(model.set.status.phase, "Ready");
    EXPECT_EQ(model.set.status.index->generation, 1);
    EXPECT_EQ(model.violation, "");
  }
}

TEST(SampleSetFirstSync, AnOperatorCrashAtAnyStepChangesNothing) {
  for (size_t after = 0; after < 6; ++after) {
    for (int when = 0; when < 12; ++when) {
      ModelCluster model(model_set(3, true));
      for (int i = 0; i < when; ++i) model.pass();
      model.pass_and_crash(after);
      model.settle(32);
      EXPECT_EQ(model.set.status.phase, "Ready");
      EXPECT_EQ(model.set.status.index->generation, 1);
      EXPECT_EQ(model.violation, "");
    }
  }
}

}  // namespace
}  // namespace paddle::controllers::sample_set
