// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/automatic_jobs.h"

#include <gtest/gtest.h>

#include "controllers/sample_set/decide/job_ids.h"
#include "controllers/sample_set/testing/model_cluster.h"

namespace paddle::controllers::sample_set {
namespace {

using std::chrono::seconds;

TEST(SampleSetAutomaticJobs, ARuntimeThatLostItsDiskGetsItsJobsAgain) {
  ModelCluster model(model_set());
  model.settle();
  model.environment_runs = false;
  model.world.runtime_reports[0] = {.partition = 0, .status = runtime::StatusReport{}};
  const auto jobs = only<PutJob>(model.pass());
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].id, model.set.status.jobs->sync);
  EXPECT_FALSE(model.set.status.partitions[0].ready);
  EXPECT_TRUE(model.set.status.partitions[0].warmed.empty());
}

TEST(SampleSetAutomaticJobs, AFailedSyncReportsItsErrorAndIsRetriedLater) {
  ModelCluster model(model_set());
  model.sync_error = "no such bucket";
  model.settle(6);
  EXPECT_EQ(model.set.status.phase, "SyncFailed");
  const auto* ready = api::find_condition(model.set.status.conditions, "Ready");
  EXPECT_NE(ready->message.find("no such bucket"), std::string::npos);
  EXPECT_TRUE(is_empty(model.pass()));

  model.sync_error.clear();
  model.now += retry_delay(model.set.status.jobs->sync);
  EXPECT_TRUE(is_empty(model.settle()));
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(attempt_of(model.set.status.jobs->sync), 1);
}

TEST(SampleSetAutomaticJobs, AChangedSpecRetriesAFailedSyncAtOnce) {
  ModelCluster model(model_set());
  model.sync_error = "no such bucket";
  model.settle(6);
  model.sync_error.clear();
  model.set.spec.source->uri = "s3://other/images";
  ++model.set.meta.generation;
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
}

TEST(SampleSetAutomaticJobs, WithoutTheAutomaticWarmUpThereIsNoWarmUpJob) {
  ModelCluster model(model_set());
  model.set.spec.warmup = api::AutoWarmup{.enabled = false};
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_TRUE(model.set.status.jobs->warmup.empty());
}

TEST(SampleSetAutomaticJobs, ASyncStartsAWarmUpAndARemovalDoesNot) {
  ModelCluster model(model_set());
  model.settle();
  const std::string first = model.set.status.jobs->warmup;
  model.clear_cache(0);
  model.generation = 2;  // samples were removed
  model.settle();
  EXPECT_EQ(model.set.status.index->generation, 2);
  EXPECT_EQ(model.set.status.jobs->warmup, first);
  model.silence(0, std::chrono::seconds(3));
  model.settle();
  EXPECT_EQ(model.set.status.jobs->warmup, first) << "no runtime reports the generation";
  model.silence(0, {});
  model.generation = model.synced = 3;
  model.settle();
  EXPECT_NE(model.set.status.jobs->warmup, first);
  EXPECT_EQ(model.violation, "");
}

TEST(SampleSetAutomaticJobs, TheFirstRuntimeServesTheListsOfAWarmUp) {
  ModelCluster model(model_set(3, true));
  std::vector<PutJob> puts;
  for (int i = 0; i < 24; ++i) {
    for (auto& put : only<PutJob>(model.pass())) {
      if (put.request.sync.parts == 1) puts.push_back(put);
    }
  }
  ASSERT_EQ(puts.size(), 4u);
  EXPECT_EQ(puts[0].request.kind, runtime::JobKind::kSync);
  EXPECT_TRUE(puts[0].request.sync.counts);
  EXPECT_EQ(puts[0].partition, 0);
  EXPECT_EQ(puts[1].partition, 0);  // before the others, which fetch their lists from it
  EXPECT_TRUE(puts[1].request.which.lists_at.empty());
  for (const size_t i : {2u, 3u}) {
    EXPECT_EQ(puts[i].request.kind, runtime::JobKind::kWarmup);
    EXPECT_EQ(puts[i].request.which.lists_at,
              "imagenet-runtime-0.imagenet-runtime-service.train:7716");
    EXPECT_EQ(puts[i].request.which.partitions, 3);
  }
  EXPECT_EQ(model.set.status.index->generation, 1);  // the operator counts
}

TEST(SampleSetAutomaticJobs, ASyncByASampleJobIsANewGenerationAndIsWarmedUpOnce) {
  ModelCluster model(model_set(2, true));
  model.settle();
  const std::string first = model.set.status.jobs->warmup;
  model.synced_by = model.set.status.jobs->sync;  // the first sync: it has been counted
  model.settle();
  EXPECT_EQ(model.set.status.index->generation, 1);
  model.synced_by = "job-1";
  model.settle();
  EXPECT_EQ(model.set.status.index->generation, 2);
  const std::string second = model.set.status.jobs->warmup;
  EXPECT_NE(second, first);
  model.synced_by = "";  // it has lost its journal
  model.settle();
  model.synced_by = "job-1";
  model.settle();
  EXPECT_EQ(model.set.status.index->generation, 2);
  EXPECT_EQ(model.set.status.jobs->warmup, second);
}

TEST(SampleSetAutomaticJobs, TheWarmUpFollowsTheStrategyOfTheSpec) {
  ModelCluster model(model_set(1));
  model.set.spec.warmup = api::AutoWarmup{
      .strategy = {.name = "distributedBatch", .batch_size = 32, .ranks = 4, .seed = 7}};
  std::vector<PutJob> puts;
  for (int i = 0; i < 24; ++i) {
    for (auto& put : only<PutJob>(model.pass())) puts.push_back(put);
  }
  const auto& strategy = puts.back().request.which.strategy;
  EXPECT_EQ(strategy.order, sampler::Order::kDistributedBatch);
  EXPECT_EQ(strategy.batch_size, 32);
  EXPECT_EQ(strategy.ranks, 4);
  EXPECT_EQ(strategy.seed, 7u);
}

TEST(SampleSetAutomaticJobs, AClearedCacheStaysClearedAndTheSetReady) {
  for (const bool shares_volume : {false, true}) {
    ModelCluster model(model_set(2, shares_volume));
    model.settle();
    const std::string id = model.set.status.jobs->warmup;
    const int puts = model.puts_of(id);
    model.clear_cache(1);
    model.settle();
    EXPECT_EQ(model.set.status.phase, "Ready");
    EXPECT_EQ(model.condition("Warmed").reason, "PartlyCached");
    EXPECT_EQ(model.set.status.partitions[1].cached_bytes, 0);
    model.lose_journal(1);  // a new pod on the same node
    model.settle();
    EXPECT_EQ(model.puts_of(id), puts);
    EXPECT_EQ(model.set.status.phase, "Ready");
  }
}

TEST(SampleSetAutomaticJobs, ACacheThatANodeLosesIsWarmedUpAgainOnlyThere) {
  ModelCluster model(model_set(3, true));
  model.settle();
  const std::string id = model.set.status.jobs->warmup;
  EXPECT_EQ(model.set.status.partitions[1].warmed_bytes, 1000);
  model.lose_cache(model.node_of(1));
  const auto noticed = model.pass();
  EXPECT_EQ(only<EmitEvent>(noticed).front().reason, "CacheLost");
  EXPECT_EQ(model.set.status.jobs->warmup, id + "-l1");  // stored before a runtime receives it
  EXPECT_EQ(model.condition("Warmed").reason, "WarmingUp");
  std::vector<PutJob> puts;
  for (int i = 0; i < 12; ++i) {
    for (auto& put : only<PutJob>(model.pass())) puts.push_back(put);
  }
  ASSERT_EQ(puts.size(), 1u);
  EXPECT_EQ(puts[0].partition, 1);
  EXPECT_EQ(puts[0].id, id + "-l1");
  EXPECT_TRUE(puts[0].request.which.lists_at.empty());  // runtime 0 serves no lists
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.condition("Warmed").status, "True");
  // Once for each lost cache.
  model.lose_cache(model.node_of(1));
  model.settle();
  EXPECT_EQ(model.set.status.jobs->warmup, id + "-l2");
  EXPECT_EQ(model.puts_of(id + "-l2"), 1);
  EXPECT_EQ(model.violation, "");
}

TEST(SampleSetAutomaticJobs, ALostCacheDoesNotUndoAClear) {
  for (const bool seen_before : {true, false}) {
    ModelCluster model(model_set(2, true));
    model.settle();
    const std::string id = model.set.status.jobs->warmup;
    model.clear_cache(1);
    if (seen_before) model.settle();
    model.lose_cache(model.node_of(1));
    model.settle();
    EXPECT_EQ(model.set.status.jobs->warmup, id);
    EXPECT_EQ(model.puts_of(id), 2);
    model.lose_journal(1);  // the runtime has forgotten the clear
    model.lose_cache(model.node_of(1));
    model.settle();
    EXPECT_EQ(model.puts_of(id), 2);
    EXPECT_EQ(model.set.status.phase, "Ready");
    EXPECT_EQ(model.violation, "");
  }
}

TEST(SampleSetAutomaticJobs, AClientThatRestartsOverAFullCacheLosesNothing) {
  ModelCluster model(model_set(2, true));
  model.settle();
  const std::string id = model.set.status.jobs->warmup;
  model.environment_runs = false;
  model.world.runtime_reports[1].status->cache.life = "another";
  model.world.runtime_reports[1].status->part_cached_bytes = 950;  // evicted
  model.pass();
  EXPECT_EQ(model.set.status.jobs->warmup, id);
  EXPECT_EQ(model.set.status.partitions[1].warmed_in, "another");
  model.world.runtime_reports[1].status->part_cached_bytes =
      100;  // evicted in this life, or cleared
  model.pass();
  EXPECT_EQ(model.set.status.jobs->warmup, id);
  model.world.runtime_reports[1].status->cache.life = "";  // not known yet
  model.world.runtime_reports[1].status->part_cached_bytes = 0;
  model.pass();
  EXPECT_EQ(model.set.status.jobs->warmup, id);
}

TEST(SampleSetAutomaticJobs, OnlyAMovedPartitionIsWarmedUpAfterTheFirstRuntimeWasReplaced) {
  ModelCluster model(model_set(2, true));
  model.settle();
  const std::string id = model.set.status.jobs->warmup;
  model.clear_cache(0);
  model.settle();
  model.lose_journal(0);
  model.lose_node(model.node_of(1));
  std::vector<PutJob> puts;
  for (int i = 0; i < 12; ++i) {
    for (auto& put : only<PutJob>(model.pass())) puts.push_back(put);
  }
  ASSERT_EQ(puts.size(), 1u);
  EXPECT_EQ(puts[0].partition, 1);
  EXPECT_EQ(puts[0].id, id);
  EXPECT_TRUE(puts[0].request.which.lists_at.empty());
  EXPECT_EQ(model.set.status.partitions[0].cached_bytes, 0);  // still cleared
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.violation, "");
}

TEST(SampleSetAutomaticJobs, ASetThatDoesNotFitIntoTheCacheIsReadyWithNoRoom) {
  ModelCluster model(model_set(1, true));
  model.cache_capacity = 600;
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.condition("Warmed").reason, "NoRoom");
  EXPECT_EQ(model.set.status.partitions[0].cached_bytes, 600);
  EXPECT_EQ(model.set.status.partitions[0].total_bytes, 1000);
  EXPECT_EQ(model.set.status.partitions[0].uncached_reason, api::uncached::kNoRoom);
}

TEST(SampleSetAutomaticJobs, AFailedWarmUpIsRetriedAndTheSetBecomesReadyAfterThree) {
  ModelCluster model(model_set(2));
  model.warm_error = "3 samples could not be read";
  model.settle();
  EXPECT_EQ(model.set.status.phase, "PartialReady");
  EXPECT_EQ(model.condition("Ready").reason, "WarmupFailed");
  const std::string first = model.set.status.jobs->warmup;
  model.now += retry_delay(first);
  model.settle();
  EXPECT_EQ(model.set.status.jobs->warmup, first + "-r1");
  model.now += seconds(1000);
  model.settle();
  EXPECT_EQ(attempt_of(model.set.status.jobs->warmup), 2);
  EXPECT_EQ(model.set.status.phase, "Ready");  // after three failures
  EXPECT_EQ(model.set.status.partitions[0].uncached_reason, api::uncached::kWarmupFailed);
  EXPECT_EQ(model.condition("Warmed").reason, "WarmupFailed");
  model.warm_error.clear();
  model.now += seconds(1000);
  model.settle();
  EXPECT_EQ(model.condition("Warmed").status, "True");
  EXPECT_EQ(model.violation, "");
}

TEST(SampleSetAutomaticJobs, ADisabledWarmUpDoesNotDelayReady) {
  ModelCluster model(model_set(2, true));
  model.set.spec.warmup = api::AutoWarmup{.enabled = false};
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.condition("Warmed").reason, "SwitchedOff");
  EXPECT_TRUE(model.set.status.jobs->warmup.empty());
}

TEST(SampleSetAutomaticJobs, AWarmUpDisabledLaterIsSwitchedOffOnceNoRuntimeRunsIt) {
  ModelCluster model(model_set(2, true));
  model.settle();
  model.lose_cache(model.node_of(1));
  model.pass();
  EXPECT_EQ(model.condition("Warmed").reason, "WarmingUp");  // no runtime has it yet
  model.set.spec.warmup = api::AutoWarmup{.enabled = false};
  ++model.set.meta.generation;
  model.settle();
  EXPECT_EQ(model.condition("Warmed").reason, "SwitchedOff");
  EXPECT_NE(model.condition("Warmed").message.find("50 %"), std::string::npos);
  EXPECT_EQ(model.set.status.phase, "Ready");
  model.environment_runs = false;
  model.world.runtime_reports[1].warmup = runtime::JobReport{.id = model.set.status.jobs->warmup,
                                                             .kind = runtime::JobKind::kWarmup,
                                                             .state = runtime::JobState::kRunning};
  model.pass();
  EXPECT_EQ(model.condition("Warmed").reason, "WarmingUp");  // it had received the job
  model.world.runtime_reports[1].warmup->state = runtime::JobState::kFailed;
  model.pass();
  EXPECT_EQ(model.condition("Warmed").reason, "SwitchedOff");  // there is no retry
}

TEST(SampleSetAutomaticJobs, ASetWithoutSyncIsWarmedUpToo) {
  ModelCluster model(model_set(2, true));
  model.set.spec.no_sync = true;
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.condition("Synced").reason, "NotNeeded");
  EXPECT_TRUE(model.set.status.jobs->sync.empty());
  EXPECT_EQ(model.puts_of(model.set.status.jobs->warmup), 2);
}

TEST(SampleSetAutomaticJobs, AddedPartitionsAreWarmedUpWithoutMovingTheOthers) {
  ModelCluster model(model_set(1, true));
  model.settle();
  const auto home = model.node_of(0);
  model.repartition(3);
  std::set<std::string> phases;
  for (int i = 0; i < 24; ++i) {
    model.pass();
    phases.insert(model.set.status.phase);
  }
  EXPECT_EQ(phases, (std::set<std::string>{"PartialReady", "Ready"}));
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.node_of(0), home);
  EXPECT_EQ(model.world.node_labels.size(), 3u);
  EXPECT_EQ(model.puts_of(model.set.status.jobs->warmup), 3);

  const auto second = model.node_of(1);
  model.repartition(2);
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.node_of(1), second);
  EXPECT_EQ(model.world.node_labels.size(), 2u);
  EXPECT_EQ(model.set.status.partitions.size(), 2u);
  EXPECT_EQ(model.violation, "");
}

TEST(SampleSetAutomaticJobs, AReturnToAPreviousNumberOfPartitionsIsANewWarmUp) {
  ModelCluster model(model_set(3, true));
  model.settle();
  std::set<std::string> ids{model.set.status.jobs->warmup};
  for (const int partitions : {2, 3, 2}) {
    model.repartition(partitions);
    model.settle();
    const std::string id = model.set.status.jobs->warmup;
    EXPECT_TRUE(ids.insert(id).second) << id;
    EXPECT_EQ(model.puts_of(id), partitions);
    EXPECT_EQ(model.set.status.phase, "Ready");
  }
  EXPECT_EQ(model.violation, "");
}

TEST(SampleSetAutomaticJobs, ProgressIsDescribedInOneLine) {
  EXPECT_EQ(describe({}), "0 files");
  EXPECT_EQ(describe({.files_total = 1000,
                      .files_done = 120,
                      .bytes_total = 12LL << 30,
                      .bytes_done = 1LL << 30,
                      .bytes_per_second = 80LL << 20,
                      .eta_seconds = 141}),
            "120 of 1,000 files, 1.0 GiB of 12 GiB, 80 MiB/s, 2 min left");
  EXPECT_EQ(describe({.files_done = 7, .bytes_done = 2048}), "7 files, 2.0 KiB");
}

// Syncs in quick succession: the runtime is still busy with the first warm-up.
TEST(SampleSetAutomaticJobs, AWarmUpThatStillWaitsIsReplacedByThatOfANewerSync) {
  ModelCluster model(model_set(2));
  model.settle();
  const std::string first = model.set.status.jobs->warmup;
  ASSERT_EQ(model.world.runtime_reports.size(), 2u);
  for (RuntimeReport& report : model.world.runtime_reports) {
    ASSERT_TRUE(report.status && report.status->index);
    report.status->index->generation = report.status->index->synced = 7;
    report.warmup = runtime::JobReport{.id = first, .kind = runtime::JobKind::kWarmup};
  }
  model.world.runtime_reports[0].warmup->state = runtime::JobState::kRunning;
  model.world.runtime_reports[1].warmup->state = runtime::JobState::kQueued;
  const Plan plan = desired(model.set, model.world, model_config(), model.now);
  ASSERT_TRUE(plan.status);
  EXPECT_NE(plan.status->jobs->warmup, first);
  const auto cancelled = only<CancelJob>(plan);
  ASSERT_EQ(cancelled.size(), 1u) << "one that runs goes on";
  EXPECT_EQ(cancelled[0], (CancelJob{1, first}));
  EXPECT_TRUE(only<PutJob>(plan).empty()) << "the new id is stored first";
}

}  // namespace
}  // namespace paddle::controllers::sample_set
