// SPDX-License-Identifier: Apache-2.0
//
// What happens to a set that was Ready: runtimes and nodes that are lost, caches that are cleared,
// partitions that change, warm-ups that fail.

#include "controllers/sample_set/decide/automatic_jobs.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/sample_set/decide/object_updates.h"
#include "controllers/sample_set/decide/runtime_liveness.h"
#include "controllers/sample_set/testing/model_cluster.h"
#include "engine/names.h"

namespace paddle::controllers::sample_set {
namespace {

using std::chrono::seconds;

TEST(SampleSetJobs, TheFirstRuntimeHandsOutTheLists) {
  Model model(model_set(3, true));
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
  EXPECT_EQ(puts[1].partition, 0);  // it knows of the lists before the others ask for them
  EXPECT_TRUE(puts[1].request.which.lists_at.empty());
  for (const size_t i : {2u, 3u}) {
    EXPECT_EQ(puts[i].request.kind, runtime::JobKind::kWarmup);
    EXPECT_EQ(puts[i].request.which.lists_at,
              "imagenet-runtime-0.imagenet-runtime-service.train:7716");
    EXPECT_EQ(puts[i].request.which.partitions, 3);
  }
  EXPECT_EQ(model.set.status.index->generation, 1);  // counted by us
}

TEST(SampleSetJobs, ASyncOfSomebodyElseIsANewGenerationAndIsWarmedUpOnce) {
  Model model(model_set(2, true));
  model.settle();
  const std::string first = model.set.status.jobs->warmup;
  model.synced_by = model.set.status.jobs->sync;  // our own: it has been counted
  model.settle();
  EXPECT_EQ(model.set.status.index->generation, 1);
  model.synced_by = "job-1";
  model.settle();
  EXPECT_EQ(model.set.status.index->generation, 2);
  const std::string second = model.set.status.jobs->warmup;
  EXPECT_NE(second, first);
  model.synced_by = "";  // its journal is gone
  model.settle();
  model.synced_by = "job-1";
  model.settle();
  EXPECT_EQ(model.set.status.index->generation, 2);
  EXPECT_EQ(model.set.status.jobs->warmup, second);
}

TEST(SampleSetJobs, TheWarmUpFollowsTheStrategyOfTheSpec) {
  Model model(model_set(1));
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

TEST(SampleSetJobs, AClearedCacheStaysClearedAndReadyStays) {
  for (const bool leading : {false, true}) {
    Model model(model_set(2, leading));
    model.settle();
    const std::string id = model.set.status.jobs->warmup;
    const int puts = model.puts_of(id);
    model.clear_cache(1);
    model.settle();
    EXPECT_EQ(model.set.status.phase, "Ready");
    EXPECT_EQ(model.condition("Warmed").reason, "PartlyCached");
    EXPECT_EQ(model.set.status.partitions[1].cached_bytes, 0);
    model.lose_journal(1);  // the runtime is another, on the same node
    model.settle();
    EXPECT_EQ(model.puts_of(id), puts);
    EXPECT_EQ(model.set.status.phase, "Ready");
  }
}

TEST(SampleSetJobs, WhatANodeLosesIsWarmedUpAgainThereAndNowhereElse) {
  Model model(model_set(3, true));
  model.settle();
  const std::string id = model.set.status.jobs->warmup;
  EXPECT_EQ(model.set.status.partitions[1].warmed_bytes, 1000);
  model.lose_cache(model.node_of(1));
  const auto noticed = model.pass();
  EXPECT_EQ(only<Tell>(noticed).front().reason, "CacheLost");
  EXPECT_EQ(model.set.status.jobs->warmup, id + "-l1");  // stored before anybody hears of it
  EXPECT_EQ(model.condition("Warmed").reason, "WarmingUp");
  std::vector<PutJob> puts;
  for (int i = 0; i < 12; ++i) {
    for (auto& put : only<PutJob>(model.pass())) puts.push_back(put);
  }
  ASSERT_EQ(puts.size(), 1u);
  EXPECT_EQ(puts[0].partition, 1);
  EXPECT_EQ(puts[0].id, id + "-l1");
  EXPECT_TRUE(puts[0].request.which.lists_at.empty());  // the first is through, and is not asked
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.condition("Warmed").status, "True");
  // Once for each loss.
  model.lose_cache(model.node_of(1));
  model.settle();
  EXPECT_EQ(model.set.status.jobs->warmup, id + "-l2");
  EXPECT_EQ(model.puts_of(id + "-l2"), 1);
  EXPECT_EQ(model.broken, "");
}

TEST(SampleSetJobs, ALossDoesNotUndoAClear) {
  for (const bool seen_before : {true, false}) {
    Model model(model_set(2, true));
    model.settle();
    const std::string id = model.set.status.jobs->warmup;
    model.clear_cache(1);
    if (seen_before) model.settle();
    model.lose_cache(model.node_of(1));
    model.settle();
    EXPECT_EQ(model.set.status.jobs->warmup, id);
    EXPECT_EQ(model.puts_of(id), 2);
    model.lose_journal(1);  // nobody there remembers the clear any more
    model.lose_cache(model.node_of(1));
    model.settle();
    EXPECT_EQ(model.puts_of(id), 2);
    EXPECT_EQ(model.set.status.phase, "Ready");
    EXPECT_EQ(model.broken, "");
  }
}

TEST(SampleSetJobs, AClientThatStartsAnewOverAFullCacheIsNoLoss) {
  Model model(model_set(2, true));
  model.settle();
  const std::string id = model.set.status.jobs->warmup;
  model.others_work = false;
  model.world.runtime_reports[1].status->cache.life = "another";
  model.world.runtime_reports[1].status->part_cached_bytes = 950;  // evicted
  model.pass();
  EXPECT_EQ(model.set.status.jobs->warmup, id);
  EXPECT_EQ(model.set.status.partitions[1].warmed_in, "another");
  model.world.runtime_reports[1].status->part_cached_bytes =
      100;  // evicted in this life, or cleared
  model.pass();
  EXPECT_EQ(model.set.status.jobs->warmup, id);
  model.world.runtime_reports[1].status->cache.life = "";  // it has not looked yet
  model.world.runtime_reports[1].status->part_cached_bytes = 0;
  model.pass();
  EXPECT_EQ(model.set.status.jobs->warmup, id);
}

TEST(SampleSetJobs, OnlyWhatMovedIsWarmedUpWhenTheFirstRuntimeIsAnother) {
  Model model(model_set(2, true));
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
  EXPECT_EQ(model.set.status.partitions[0].cached_bytes, 0);  // still clear
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.broken, "");
}

TEST(SampleSetJobs, WhatDoesNotFitIsReadyAndSaysSo) {
  Model model(model_set(1, true));
  model.room = 600;
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.condition("Warmed").reason, "NoRoom");
  EXPECT_EQ(model.set.status.partitions[0].cached_bytes, 600);
  EXPECT_EQ(model.set.status.partitions[0].total_bytes, 1000);
  EXPECT_EQ(model.set.status.partitions[0].uncached_reason, api::uncached::kNoRoom);
}

TEST(SampleSetJobs, APartitionIsAsWarmAsItCanBeWhenNothingIsGoingToWarmIt) {
  for (const bool leading : {false, true}) {
    Model model(model_set(2, leading));
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
    EXPECT_EQ(model.broken, "");
  }
}

TEST(SampleSetJobs, APartitionIsNotAsWarmAsItCanBeWhileAUsersWarmUpRuns) {
  Model model(model_set(1));
  model.settle();
  model.others_work = false;
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

TEST(SampleSetJobs, AFailedWarmUpIsTriedAgainAndDoesNotKeepUsersOutForEver) {
  Model model(model_set(2));
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
  EXPECT_EQ(model.set.status.phase, "Ready");  // three are enough
  EXPECT_EQ(model.set.status.partitions[0].uncached_reason, api::uncached::kWarmupFailed);
  EXPECT_EQ(model.condition("Warmed").reason, "WarmupFailed");
  model.warm_error.clear();
  model.now += seconds(1000);
  model.settle();
  EXPECT_EQ(model.condition("Warmed").status, "True");
  EXPECT_EQ(model.broken, "");
}

TEST(SampleSetJobs, SwitchedOffThereIsNoWarmUpAndReadyDoesNotWait) {
  Model model(model_set(2, true));
  model.set.spec.warmup = api::AutoWarmup{.enabled = false};
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.condition("Warmed").reason, "SwitchedOff");
  EXPECT_TRUE(model.set.status.jobs->warmup.empty());
}

TEST(SampleSetJobs, SwitchedOffLaterItSaysSoOnceNobodyIsAtItAnyMore) {
  Model model(model_set(2, true));
  model.settle();
  model.lose_cache(model.node_of(1));
  model.pass();
  EXPECT_EQ(model.condition("Warmed").reason, "WarmingUp");  // named, and not asked for yet
  model.set.spec.warmup = api::AutoWarmup{.enabled = false};
  ++model.set.meta.generation;
  model.settle();
  EXPECT_EQ(model.condition("Warmed").reason, "SwitchedOff");
  EXPECT_NE(model.condition("Warmed").message.find("50 %"), std::string::npos);
  EXPECT_EQ(model.set.status.phase, "Ready");
  model.others_work = false;
  model.world.runtime_reports[1].warmup = runtime::JobReport{.id = model.set.status.jobs->warmup,
                                                             .kind = runtime::JobKind::kWarmup,
                                                             .state = runtime::JobState::kRunning};
  model.pass();
  EXPECT_EQ(model.condition("Warmed").reason, "WarmingUp");  // it was asked in time
  model.world.runtime_reports[1].warmup->state = runtime::JobState::kFailed;
  model.pass();
  EXPECT_EQ(model.condition("Warmed").reason, "SwitchedOff");  // and is not asked again
}

TEST(SampleSetJobs, WithoutASyncTheSamplesAreWarmedUpAllTheSame) {
  Model model(model_set(2, true));
  model.set.spec.no_sync = true;
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.condition("Synced").reason, "NotNeeded");
  EXPECT_TRUE(model.set.status.jobs->sync.empty());
  EXPECT_EQ(model.puts_of(model.set.status.jobs->warmup), 2);
}

TEST(SampleSetPartitions, AreAddedWithoutTouchingThoseThatAreThere) {
  Model model(model_set(1, true));
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
  EXPECT_EQ(model.broken, "");
}

TEST(SampleSetPartitions, AsManyAsBeforeAreAnotherWarmUpAllTheSame) {
  Model model(model_set(3, true));
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
  EXPECT_EQ(model.broken, "");
}

TEST(SampleSetIds, FollowFromTheOneBefore) {
  auto set = model_set(3);
  const std::string first = warm_up_id(set, 1, "");
  EXPECT_EQ(first, "warmup-01234567-1-3");
  EXPECT_EQ(warm_up_id(set, 1, first), first);
  const std::string lost = warm_up_after_loss(warm_up_after_failure(first));
  EXPECT_EQ(lost, first + "-l1");
  EXPECT_EQ(warm_up_after_failure(warm_up_after_failure(lost)), first + "-l1-r2");
  EXPECT_EQ(warm_up_after_loss(first + "-l1-r2"), first + "-l2");
  EXPECT_EQ(warm_up_round(first + "-l1-r2"), first);
  EXPECT_EQ(warm_up_id(set, 1, first + "-l1-r2"), first + "-l1-r2");
  set.spec.partitions = 2;
  const std::string fewer = warm_up_id(set, 1, lost);
  EXPECT_EQ(fewer, "warmup-01234567-1-2-v1");
  EXPECT_EQ(warm_up_id(set, 1, warm_up_after_loss(fewer)), warm_up_after_loss(fewer));
  set.spec.partitions = 3;
  EXPECT_EQ(warm_up_id(set, 1, warm_up_after_loss(fewer)), first + "-v2");
  EXPECT_EQ(warm_up_id(set, 2, first + "-v2"), "warmup-01234567-2-3-v3");
  EXPECT_EQ(next_sync_id(set, ""), "sync-01234567-0");
  EXPECT_EQ(next_sync_id(set, "sync-01234567-9"), "sync-01234567-10");
  set.meta.uid = "a-r2-l3b";  // no number at the end of the id
  EXPECT_EQ(warm_up_round(warm_up_id(set, 1, "")), "warmup-a-r2-l3b-1-3");
}

TEST(SampleSetLosses, ASilentRuntimeLosesItsLabelAndNothingElse) {
  Model model(model_set(2, true));
  model.settle();
  const auto node = model.node_of(1);
  model.others_work = false;
  model.silence(1, kSilentAfter - seconds(1));
  EXPECT_TRUE(only<LabelNode>(model.pass()).empty());
  EXPECT_EQ(model.set.status.phase, "PartialReady");  // its probe fails as well
  EXPECT_EQ(model.condition("Degraded").status, "False");

  model.silence(1, kSilentAfter);
  const auto plan = model.pass();
  EXPECT_FALSE(model.world.node_labels.contains(node));
  EXPECT_EQ(model.condition("Degraded").reason, "RuntimeSilent");
  EXPECT_EQ(model.set.status.partitions[1].cached_bytes, 0);
  model.silence(1, seconds(3600));
  EXPECT_TRUE(only<ReplaceRuntime>(model.pass()).empty());  // its node is well

  model.silence(1, seconds(0));
  model.others_work = true;
  model.settle();
  EXPECT_TRUE(model.world.node_labels.contains(node));
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.condition("Degraded").status, "False");
}

// As an operator sees it that has just begun: for how long nobody knows.
TEST(SampleSetLosses, AnotherOperatorGivesNoLabelToWhomItHasNotHeard) {
  Model model(model_set(2, true));
  model.settle();
  const auto node = model.node_of(1);
  model.others_work = false;
  model.silence(1, kSilentAfter);
  model.pass();
  EXPECT_FALSE(model.world.node_labels.contains(node));
  model.silence(1, seconds(1));
  EXPECT_TRUE(only<LabelNode>(model.pass()).empty());
  EXPECT_EQ(model.condition("Degraded").reason, "RuntimeSilent");
  model.silence(0, seconds(1));  // which was well, and keeps its label
  EXPECT_TRUE(only<LabelNode>(model.pass()).empty());
  EXPECT_TRUE(model.world.node_labels.contains(model.node_of(0)));
  for (const int partition : {0, 1}) model.silence(partition, seconds(0));
  EXPECT_EQ(only<LabelNode>(model.pass()).size(), 2u);
  EXPECT_EQ(model.condition("Degraded").status, "False");
}

TEST(SampleSetLosses, AreAllNamedAndNoNodeIsTheReasonThatCounts) {
  Model model(model_set(3, true), 3);
  model.settle();
  model.lose_node(model.node_of(1));
  model.settle();
  model.others_work = false;
  model.silence(0, kSilentAfter);
  model.pass();
  const auto& degraded = model.condition("Degraded");
  EXPECT_EQ(degraded.reason, "NoNode");  // by this word workers are released
  EXPECT_NE(degraded.message.find("runtime 0 has not answered"), std::string::npos);
  EXPECT_NE(degraded.message.find("no node can take runtime 1"), std::string::npos);
  EXPECT_EQ(degraded.message.find("runtime 2"), std::string::npos);
}

TEST(SampleSetLosses, AreLookedForAtTheSamePaceWhateverElseIsWaitedFor) {
  const auto pace = [](Model& model) { return *model.pass().requeue_after; };
  {
    Model model(model_set(1));
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
  Model model(model_set(1, true));
  model.settle();
  model.format_error = "access denied";
  model.put_secret("s/2", {{"metaurl", "redis://x"}, {"secret-key", "wrong"}});
  model.settle();
  EXPECT_EQ(model.condition("Degraded").reason, "CredentialsRefused");
  EXPECT_LE(pace(model), seconds(5));
  model.put_secret("s/3", {{"no", "metaurl"}});
  model.settle();
  EXPECT_EQ(pace(model), seconds(5));
  model.others_work = false;
  model.silence(0, seconds(1));
  EXPECT_EQ(pace(model), seconds(2));
}

TEST(SampleSetLosses, ALostNodesPartitionMovesAndIsWarmedUpThere) {
  for (const bool leading : {false, true}) {
    Model model(model_set(2, leading));
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
    EXPECT_EQ(model.broken, "");
  }
}

TEST(SampleSetLosses, NothingIsGivenUpWhenNobodyIsHeardOf) {
  Model model(model_set(2, true));
  model.settle();
  model.others_work = false;
  for (const int partition : {0, 1}) model.silence(partition, seconds(3600));
  EXPECT_TRUE(only<ReplaceRuntime>(model.pass()).empty());
  for (int i = 0; i < 6; ++i) model.lose_node("node-" + std::to_string(i));
  EXPECT_TRUE(only<ReplaceRuntime>(model.pass()).empty());  // every node: it is not the nodes
}

TEST(SampleSetLosses, WithoutANodeLeftItsWorkersAreReleasedAndTheSetSaysSo) {
  Model model(model_set(2, true), 2);
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

TEST(SampleSetLosses, APodThatShouldBeGoneFromALostNodeIsRemoved) {
  Model model(model_set(1));
  model.settle();
  model.lose_node(model.node_of(0));
  model.others_work = false;
  model.world.runtime_reports.clear();
  model.world.pods[0].meta.deleted = model.now;
  EXPECT_TRUE(only<ReplaceRuntime>(model.pass()).empty());
  model.now += seconds(5);
  EXPECT_EQ(only<ReplaceRuntime>(model.pass()).size(), 1u);
}

TEST(SampleSetFigures, DoNotJumpWhenARuntimeHesitates) {
  Model model(model_set(2, true));
  model.settle();
  const auto before = model.set.status;
  model.others_work = false;
  model.silence(0, seconds(3));
  model.world.runtimes->ready = 2;
  model.pass();
  EXPECT_EQ(model.set.status.cache, before.cache);
  EXPECT_EQ(model.set.status.partitions, before.partitions);
  EXPECT_EQ(model.set.status.phase, "Ready");
}

TEST(SampleSetProgress, IsSaidInTheConditions) {
  EXPECT_EQ(to_text({}), "0 files");
  EXPECT_EQ(to_text({.files_total = 1000,
                     .files_done = 120,
                     .bytes_total = 12LL << 30,
                     .bytes_done = 1LL << 30,
                     .bytes_per_second = 80LL << 20,
                     .seconds_left = 141}),
            "120 of 1,000 files, 1.0 GiB of 12 GiB, 80 MiB/s, 2 min left");
  EXPECT_EQ(to_text({.files_done = 7, .bytes_done = 2048}), "7 files, 2.0 KiB");
}

}  // namespace
}  // namespace paddle::controllers::sample_set
