// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/plan.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "controllers/sample_job/decide/queue.h"

namespace paddle::controllers::sample_job {
namespace {

using namespace std::chrono_literals;
using runtime::JobState;

const WallTime kNow{std::chrono::seconds{1'800'000'000}};

api::SampleJob job_of(const std::string& type = "warmup") {
  api::SampleJob job;
  job.meta.key = {"ns", "job"};
  job.meta.uid = "0f5e2f6c-1111-2222-3333-444455556666";
  job.meta.generation = 1;
  job.meta.created = kNow;
  job.spec.type = type;
  job.spec.sample_set = api::LocalReference{.name = "imagenet"};
  if (type == "rmr") job.spec.rmr = api::RmrOptions{.paths = {"/train"}};
  return job;
}

api::SampleSet set_of(int partitions, const std::string& phase = "Ready") {
  api::SampleSet set;
  set.meta.key = {"ns", "imagenet"};
  set.spec.partitions = partitions;
  set.spec.source = api::SampleSource{.uri = "s3://bucket/imagenet"};
  set.status.phase = phase;
  return set;
}

World world_of(int partitions, bool shares_volume = false) {
  World world{.set = set_of(partitions), .shares_volume = shares_volume};
  for (int i = 0; i < partitions; ++i) {
    world.reports.push_back({.partition = i, .node = "node" + std::to_string(i)});
  }
  return world;
}

// Plays runtimes and API server: what is asked for is known, what is written is stored.
struct Model {
  api::SampleJob job = job_of();
  World world = world_of(2);
  WallTime now = kNow;
  std::vector<std::string> asked{};
  std::vector<std::string> cancelled{};
  std::vector<std::string> told{};
  std::vector<std::string> counted{};
  bool deleted = false;

  Plan pass() {
    const Plan plan = desired(job, world, now);
    for (const Action& action : plan.actions) {
      if (const auto* put = std::get_if<PutJob>(&action)) {
        EXPECT_EQ(put->id, job.status.job_name) << "asked before it was stored";
        asked.push_back(std::to_string(put->partition) + ":" + put->id);
        answer(put->partition).job = runtime::JobReport{.id = put->id, .kind = put->request.kind};
      }
      if (const auto* cancel = std::get_if<CancelJob>(&action)) {
        cancelled.push_back(std::to_string(cancel->partition) + ":" + cancel->id);
        if (auto& known = answer(cancel->partition).job) known->state = JobState::kCancelled;
      }
      if (const auto* set = std::get_if<SetStatus>(&action)) job.status = set->status;
      if (const auto* tell = std::get_if<EmitEvent>(&action)) told.push_back(tell->reason);
      if (const auto* count = std::get_if<MarkSyncComplete>(&action)) counted.push_back(count->id);
      if (std::holds_alternative<DeleteJob>(action)) deleted = true;
    }
    return plan;
  }
  void settle() {
    for (int i = 0; i < 20; ++i) {
      if (pass().actions.empty()) return;
      // A new id is one that no runtime has heard of.
      for (auto& each : world.reports) {
        if (each.job && each.job->id != job.status.job_name) each.job.reset();
      }
    }
    ADD_FAILURE() << "does not settle";
  }
  PartitionReport& answer(int partition) {
    return world.reports.at(static_cast<size_t>(partition));
  }
  void say(int partition, JobState state, const std::string& error = "") {
    answer(partition).job->state = state;
    answer(partition).job->error = error;
  }
  std::string reason(const char* type = "Ready") const {
    const auto* found = api::find_condition(job.status.conditions, type);
    return found ? found->reason : "(none)";
  }
  std::string message(const char* type = "Ready") const {
    const auto* found = api::find_condition(job.status.conditions, type);
    return found ? found->message : "(none)";
  }
};

TEST(SampleJobPlan, AWarmUpGoesThroughItsPhasesOnEveryPartition) {
  Model model;
  model.settle();
  EXPECT_EQ(model.asked.size(), 2u);
  EXPECT_EQ(model.job.status.phase, "Pending");
  model.answer(0).job->state = JobState::kRunning;
  model.answer(0).job->bytes_total = 100;
  model.answer(0).job->bytes_done = 50;
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Running");
  EXPECT_EQ(model.job.status.progress, "50% 50 B/100 B");
  EXPECT_EQ(model.job.status.partitions[0].node, "node0");
  model.say(0, JobState::kSucceeded);
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Running");
  model.say(1, JobState::kSucceeded);
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Succeeded");
  EXPECT_EQ(model.job.status.completion_time, kNow);
  EXPECT_EQ(model.asked.size(), 2u);
  EXPECT_EQ(model.told, (std::vector<std::string>{"CreateWarmupJobSuccessfully", "Progress",
                                                  "DoWarmupJobSuccessfully"}));
  EXPECT_EQ(model.reason("Complete"), "Succeeded");
}

TEST(SampleJobPlan, ASyncSaysWhatItLeftOut) {
  Model model;
  model.job = job_of("sync");
  model.settle();
  for (const int partition : {0, 1}) {
    model.say(partition, JobState::kSucceeded);
    model.answer(partition).job->left_out = {.count = 7, .examples = {"'a//b' (an empty part)"}};
  }
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Succeeded");
  EXPECT_NE(model.message("Complete")
                .find("; 7 objects of the source are left out: 'a//b' (an "
                      "empty part) and 6 more"),
            std::string::npos)
      << model.message("Complete");
}

TEST(SampleJobPlan, TheIdIsStoredBeforeAnybodyHearsOfIt) {
  const Plan plan = desired(job_of(), world_of(1), kNow);
  ASSERT_EQ(plan.actions.size(), 1u);
  const auto& status = std::get<SetStatus>(plan.actions[0]).status;
  EXPECT_TRUE(status.job_name.starts_with(id_prefix(job_of().meta)));
  EXPECT_TRUE(runtime::is_job_id(status.job_name)) << status.job_name;
  EXPECT_EQ(plan.requeue_after, 0s);
}

TEST(SampleJobPlan, OnOneVolumeARemovalIsTheFirstRuntimesAffair) {
  for (const auto& [type, all] : {std::pair{"sync", 3u}, std::pair{"rmr", 1u},
                                  std::pair{"warmup", 3u}, std::pair{"clear", 3u}}) {
    Model model{.job = job_of(type), .world = world_of(3, true)};
    model.settle();
    EXPECT_EQ(model.asked.size(), all) << type;
    Model apart{.job = job_of(type), .world = world_of(3, false)};
    apart.settle();
    EXPECT_EQ(apart.asked.size(), 3u) << type;
  }
}

// Three runtimes that share a sync.
Model runtime_jobs() {
  Model model{.job = job_of("sync"), .world = world_of(3, true)};
  model.settle();
  return model;
}

void succeed(Model& model, int partition, const std::string& cut) {
  model.say(partition, JobState::kSucceeded);
  model.answer(partition).job->cut = cut;
}

TEST(SampleJobPlan, ASharedSyncIsAskedForInPartsThatAreNeverMixedUp) {
  const Model model = runtime_jobs();
  EXPECT_EQ(model.asked.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    Model other = model;
    other.answer(i).job.reset();  // it moved to another node
    const Plan plan = desired(other.job, other.world, kNow);
    const auto& put = std::get<PutJob>(plan.actions.front());
    EXPECT_EQ(put.partition, i);
    EXPECT_EQ(put.request.sync.part, i);
    EXPECT_EQ(put.request.sync.parts, 3);
    EXPECT_EQ(put.request.sync.lists_at, "imagenet-runtime-0.imagenet-runtime-service.ns:7716");
  }
}

TEST(SampleJobPlan, ASharedSyncCountsOnceWhenAllPartsAreDone) {
  Model model = runtime_jobs();
  succeed(model, 0, "x");
  succeed(model, 2, "x");
  model.settle();
  EXPECT_TRUE(model.counted.empty());
  EXPECT_EQ(model.job.status.phase, "Pending");
  succeed(model, 1, "x");
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Succeeded");
  EXPECT_EQ(model.counted, std::vector<std::string>{model.job.status.job_name + "-all"});
  EXPECT_EQ(model.asked.size(), 3u);
}

TEST(SampleJobPlan, PartsOfTwoDivisionsAreNotAWhole) {
  Model model = runtime_jobs();
  const std::string before = model.job.status.job_name;
  succeed(model, 0, "y");  // its runtime lost its disk and divided anew
  succeed(model, 1, "x");
  succeed(model, 2, "x");
  model.settle();
  EXPECT_EQ(model.job.status.job_name, before + ".1");
  EXPECT_TRUE(model.counted.empty());
  EXPECT_EQ(model.asked.size(), 6u);
  for (int i = 0; i < 3; ++i) succeed(model, i, "z");
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Succeeded");
  EXPECT_EQ(model.counted, std::vector<std::string>{before + ".1-all"});
}

TEST(SampleJobPlan, APartThatFailedFailsTheSyncAndIsNamed) {
  Model model = runtime_jobs();
  model.say(0, JobState::kRunning);
  model.say(1, JobState::kFailed, "no such bucket");
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Failed");
  EXPECT_EQ(model.cancelled.size(), 2u);
  EXPECT_NE(model.message("Failed").find("partition 1 on node1: no such bucket"), std::string::npos)
      << model.message("Failed");
  EXPECT_TRUE(model.counted.empty());
}

TEST(SampleJobPlan, ASyncIsSharedByThoseWhoAreThere) {
  Model model{.job = job_of("sync"), .world = world_of(3, true)};
  std::erase_if(model.world.reports,
                [](const PartitionReport& each) { return each.partition == 1; });
  const PartitionReport last = model.world.reports.back();
  Plan plan;
  for (int i = 0; i < 3; ++i) {
    plan = desired(model.job, model.world, kNow);
    for (const Action& action : plan.actions) {
      if (const auto* set = std::get_if<SetStatus>(&action)) model.job.status = set->status;
      if (const auto* put = std::get_if<PutJob>(&action); put && put->partition == 2) {
        EXPECT_EQ(put->request.sync.part, 1);
        EXPECT_EQ(put->request.sync.parts, 2);
      }
    }
  }
  EXPECT_EQ(model.job.status.partitions.size(), 2u);
}

TEST(SampleJobPlan, ASyncThatOnlyLooksOrTakesFromTheSourceIsNotShared) {
  for (const bool dry : {true, false}) {
    Model model{.job = job_of("sync"), .world = world_of(3, true)};
    model.job.spec.sync = api::SyncOptions{.dry = dry, .delete_src = !dry};
    model.settle();
    EXPECT_EQ(model.asked.size(), 1u);
    model.say(0, JobState::kSucceeded);
    model.settle();
    EXPECT_EQ(model.job.status.phase, "Succeeded");
    EXPECT_TRUE(model.counted.empty());  // the runtime counts it by itself
  }
}

TEST(SampleJobPlan, OfASharedSyncTheNextOneWaitsForTheLastPart) {
  Model model{.job = job_of("sync"), .world = world_of(3, true)};
  model.world.siblings = {{.name = "a", .type = "sync", .created = kNow - 1s, .sent = true}};
  model.settle();
  EXPECT_EQ(model.reason(), "Queued");
  model.world = world_of(1, true);
  model.world.siblings = {{.name = "a", .type = "sync", .created = kNow - 1s, .sent = true}};
  model.settle();
  EXPECT_EQ(model.reason(), "Starting");
}

TEST(SampleJobPlan, ASetWithFewerPartitionsDividesItsSyncAgain) {
  Model model = runtime_jobs();
  const std::string before = model.job.status.job_name;
  model.world.set->spec.partitions = 2;
  model.world.reports.pop_back();
  model.settle();
  EXPECT_EQ(model.job.status.job_name, before + ".1");
  EXPECT_EQ(model.job.status.partitions.size(), 2u);
}

TEST(SampleJobPlan, ARuntimeThatStaysAwayLeavesItsPartToTheOthers) {
  Model model = runtime_jobs();
  const std::string before = model.job.status.job_name;
  model.say(2, JobState::kRunning);
  model.settle();
  succeed(model, 0, "x");
  succeed(model, 1, "x");
  model.answer(2) = {.partition = 2, .error = "no answer"};
  model.settle();
  EXPECT_EQ(model.job.status.job_name, before);  // it may come back
  model.now += 60s;
  model.pass();
  EXPECT_EQ(model.job.status.job_name, before + ".1");
  ASSERT_EQ(model.job.status.partitions.size(), 2u);
  EXPECT_EQ(model.message(), "begins once more: partition 2: no answer");
  model.settle();
  EXPECT_TRUE(model.cancelled.empty());
  for (int i = 0; i < 2; ++i) succeed(model, i, "y");
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Succeeded");
  ASSERT_EQ(model.job.status.left.size(), 1u);
  model.answer(2).error.clear();  // it is back, and would go on
  model.settle();
  EXPECT_EQ(model.cancelled, std::vector<std::string>{"2:" + before});
  EXPECT_TRUE(model.job.status.left.empty());
}

TEST(SampleJobPlan, ASyncWaitsForTheFirstOneThatItsSetShares) {
  Model model{.job = job_of("sync"), .world = world_of(3, true)};
  model.world.set->status.phase = "Syncing";
  model.world.set->status.sync = api::SharedSync{};
  model.settle();
  EXPECT_EQ(model.reason(), "WaitingForSampleSet");
  EXPECT_TRUE(model.asked.empty());
  model.world.set->status.sync.reset();
  model.settle();
  EXPECT_EQ(model.asked.size(), 3u);
}

TEST(SampleJobPlan, AStepOfALongQueueIsNoWriteForEverybodyInIt) {
  Model model{.job = job_of("warmup")};
  const auto queue = [&](int count) {
    model.world.siblings.clear();
    for (int i = 0; i < count; ++i) {
      model.world.siblings.push_back(
          {.name = "a", .type = "warmup", .created = kNow - 1s, .sent = i < 4});
    }
  };
  int writes = 0;
  for (int count = 180; count > 3; --count) {
    queue(count);
    if (!model.pass().actions.empty()) ++writes;
    EXPECT_EQ(model.reason(), "Queued");
  }
  EXPECT_EQ(writes, 3);
  EXPECT_EQ(model.message(), "fewer than 10 jobs of this type come first");
}

TEST(SampleJobPlan, ARemovalSaysWhenItWasFirstAccepted) {
  Model model{.job = job_of("rmr"), .world = world_of(2, true)};
  model.settle();
  model.now += 1h;
  model.answer(0).job.reset();  // it moved to another node
  const Plan plan = desired(model.job, model.world, model.now);
  const auto& put = std::get<PutJob>(plan.actions.front());
  EXPECT_EQ(put.request.which.accepted,
            std::chrono::duration_cast<std::chrono::milliseconds>(kNow.time_since_epoch()).count());
}

TEST(SampleJobPlan, ARemovalThatIsAskedForAgainSaysSo) {
  Model model{.job = job_of("rmr"), .world = world_of(1, true)};
  const auto again = [&] {
    const Plan plan = model.pass();
    for (const Action& action : plan.actions) {
      if (const auto* put = std::get_if<PutJob>(&action)) return put->request.which.again;
    }
    ADD_FAILURE() << "nobody was asked";
    return false;
  };
  model.pass();  // stores the id
  EXPECT_FALSE(again());
  model.settle();
  model.answer(0).job.reset();  // a successor, which knows nothing
  EXPECT_TRUE(again());
}

TEST(SampleJobPlan, WaitsForWhatIsMissingAndGoesOnWhenItComes) {
  Model model;
  const World whole = model.world;
  model.world = {};
  model.settle();
  EXPECT_EQ(model.reason(), "ErrorSampleSetNotExist");
  EXPECT_EQ(model.job.status.phase, "Pending");
  model.world.set = set_of(2, "Bound");
  model.settle();
  EXPECT_EQ(model.reason(), "WaitingForSampleSet");
  model.world.set = set_of(2);
  model.settle();
  EXPECT_EQ(model.message(), "waiting for the runtimes of partition 0, 1");
  model.world.reports = {whole.reports[0], {.partition = 1, .error = "no answer"}};
  model.settle();
  EXPECT_EQ(model.message(), "waiting for the runtimes of partition 1");
  model.world = whole;
  model.job.spec.secret = api::SecretReference{.name = "keys"};
  model.world.secret_exists = false;
  model.settle();
  EXPECT_EQ(model.reason(), "ErrorSecretNotExist");
  EXPECT_TRUE(model.asked.empty());
  model.world.secret_exists = true;
  model.settle();
  EXPECT_EQ(model.asked.size(), 2u);
  EXPECT_EQ(model.told, (std::vector<std::string>{"ErrorSampleSetNotExist", "ErrorSecretNotExist",
                                                  "CreateWarmupJobSuccessfully"}));
}

TEST(SampleJobPlan, WithoutARuntimeNothingSucceeds) {
  Model model;
  model.settle();
  model.world.reports.clear();
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Pending");
  EXPECT_EQ(model.job.status.partitions[0].message, "its runtime is away");
}

TEST(SampleJobPlan, ASuccessorIsAskedAndWhatSucceededIsNot) {
  Model model;
  model.settle();
  model.say(0, JobState::kSucceeded);
  model.say(1, JobState::kRunning);
  model.settle();
  model.answer(0).job.reset();  // both pods moved: their journals are gone
  model.answer(1).job.reset();
  model.settle();
  EXPECT_EQ(model.asked.size(), 3u);
  EXPECT_EQ(model.asked[2], "1:" + model.job.status.job_name);
}

TEST(SampleJobPlan, AFailureNamesThePartition) {
  Model model;
  model.settle();
  model.say(0, JobState::kSucceeded);
  model.say(1, JobState::kFailed, "no such bucket");
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Failed");
  EXPECT_EQ(model.message("Failed"), "partition 1 on node1: no such bucket");
  EXPECT_EQ(model.told.back(), "ErrorDoWarmupJob");
}

TEST(SampleJobPlan, BackoffLimitRepeatsUnderAnotherIdAfterAPause) {
  Model model;
  model.job.spec.backoff_limit = 1;
  model.settle();
  const std::string first = model.job.status.job_name;
  model.say(0, JobState::kFailed, "cut");
  model.say(1, JobState::kSucceeded);
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Pending");
  EXPECT_EQ(model.reason(), "Retrying");
  EXPECT_EQ(model.asked.size(), 2u);
  model.now += 5s;
  model.settle();
  EXPECT_EQ(model.asked.size(), 4u);
  EXPECT_NE(model.job.status.job_name, first);
  model.say(0, JobState::kFailed, "cut again");
  model.say(1, JobState::kSucceeded);
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Failed");
  EXPECT_EQ(model.job.status.failures, 2);
}

TEST(SampleJobPlan, EachPauseCountsFromTheFailureBeforeIt) {
  Model model;
  model.job.spec.backoff_limit = 20;
  model.world.set.reset();
  model.settle();
  model.now += 600s;  // it has waited for its set
  model.world = world_of(2);
  model.settle();
  const auto fails = [&] {
    model.say(0, JobState::kFailed, "no such bucket");
    model.say(1, JobState::kFailed, "no such bucket");
    model.settle();
    EXPECT_EQ(model.reason(), "Retrying");
  };
  fails();
  EXPECT_EQ(model.pass().requeue_after, 5s);
  model.now += 5s;
  model.settle();
  ASSERT_EQ(model.asked.size(), 4u);
  fails();
  EXPECT_EQ(model.pass().requeue_after, 10s);
  // What it waits for in between does not make the pause forgotten.
  model.job.spec.suspend = true;
  model.settle();
  model.job.spec.suspend = false;
  model.settle();
  EXPECT_EQ(model.reason(), "Retrying");
  EXPECT_EQ(model.asked.size(), 4u);
  model.now += 10s;
  model.settle();
  EXPECT_EQ(model.asked.size(), 6u);
}

TEST(SampleJobPlan, AChangedSpecGivesAFailedJobAnotherChanceAndASucceededOneNone) {
  Model model;
  model.settle();
  model.say(0, JobState::kFailed, "cut");
  model.say(1, JobState::kFailed, "cut");
  model.settle();
  ASSERT_EQ(model.job.status.phase, "Failed");
  model.job.meta.generation = 2;
  for (auto& each : model.world.reports) each.job.reset();
  model.settle();
  EXPECT_EQ(model.asked.size(), 4u);
  EXPECT_EQ(model.reason("Failed"), "(none)");
  EXPECT_EQ(model.job.status.failures, 0);
  model.say(0, JobState::kSucceeded);
  model.say(1, JobState::kSucceeded);
  model.settle();
  model.job.meta.generation = 3;
  model.settle();
  EXPECT_EQ(model.asked.size(), 4u);
  EXPECT_EQ(model.job.status.phase, "Succeeded");
}

TEST(SampleJobPlan, TheDeadlineCancelsWhatRuns) {
  Model model;
  model.job.spec.active_deadline_seconds = 60;
  model.settle();
  model.say(0, JobState::kRunning);
  model.say(1, JobState::kSucceeded);
  model.now += 59s;
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Running");
  model.now += 1s;
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Failed");
  EXPECT_EQ(model.reason("Failed"), "DeadlineExceeded");
  EXPECT_EQ(model.cancelled, (std::vector<std::string>{"0:" + model.job.status.job_name}));
}

TEST(SampleJobPlan, TheDeadlineHoldsWhileAFailedAttemptWaits) {
  Model model;
  model.job.spec.active_deadline_seconds = 60;
  model.job.spec.backoff_limit = 20;
  model.settle();
  model.say(0, JobState::kFailed, "cut");
  model.say(1, JobState::kFailed, "cut");
  model.settle();
  model.world.set.reset();
  model.now += 55s;
  EXPECT_EQ(model.pass().requeue_after, 5s);
  model.now += 5s;
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Failed");
  EXPECT_EQ(model.reason("Failed"), "DeadlineExceeded");
}

TEST(SampleJobPlan, AResumedJobHasAllOfItsTimeAgain) {
  Model model;
  model.job.spec.active_deadline_seconds = 60;
  model.settle();
  model.job.spec.suspend = true;
  model.settle();
  model.now += 3600s;
  model.job.spec.suspend = false;
  model.job.meta.generation = 2;
  model.settle();
  EXPECT_EQ(model.asked.size(), 4u);
  EXPECT_EQ(model.job.status.start_time, model.now);
}

TEST(SampleJobPlan, WhatCanNotBeCancelledNowIsCancelledWhenItsRuntimeIsBack) {
  for (const bool suspended : {false, true}) {
    Model model;
    model.job.spec.active_deadline_seconds = 60;
    model.settle();
    const std::string id = model.job.status.job_name;
    const PartitionReport away = model.world.reports.back();
    model.world.reports.pop_back();
    model.job.spec.suspend = suspended;
    model.now += suspended ? 1s : 60s;
    model.settle();
    EXPECT_EQ(model.cancelled, (std::vector<std::string>{"0:" + id}));
    ASSERT_EQ(model.job.status.left.size(), 1u);
    EXPECT_EQ(model.job.status.left[0].id, id);
    model.world.reports.push_back(away);
    model.settle();
    EXPECT_EQ(model.cancelled, (std::vector<std::string>{"0:" + id, "1:" + id}));
    EXPECT_TRUE(model.job.status.left.empty());
  }
}

TEST(SampleJobPlan, WhatRunsIsWhatTheSpecOfThenAskedFor) {
  Model model;
  model.settle();
  model.job.meta.generation = 2;
  model.settle();
  EXPECT_EQ(model.job.status.observed_generation, 1);
  model.say(0, JobState::kFailed, "cut");
  model.say(1, JobState::kFailed, "cut");
  for (int i = 0; i < 3; ++i) model.pass();
  EXPECT_EQ(model.job.status.observed_generation, 2) << "it begins again with what it says now";
}

TEST(SampleJobPlan, QuartersOfTheBytesAreEvents) {
  Model model;
  model.settle();
  for (int i = 0; i < 2; ++i) {
    model.say(i, JobState::kRunning);
    model.answer(i).job->bytes_total = 100;
  }
  for (const int done : {10, 30, 40, 60, 100}) {
    for (int i = 0; i < 2; ++i) model.answer(i).job->bytes_done = done;
    model.settle();
  }
  EXPECT_EQ(std::ranges::count(model.told, "Progress"), 2);
  for (int i = 0; i < 2; ++i) {
    model.answer(i).job->files_done = 600;
    model.say(i, JobState::kSucceeded);
  }
  model.settle();
  EXPECT_EQ(model.message("Complete"), "done on all 2 partitions: 1,200 files, 200 B");
}

TEST(SampleJobPlan, OfOneSecondATerminatorCancelsWhatWasSentAndTheRestWaitsForIt) {
  const auto of = [](const char* name, bool terminate) {
    Model model;
    model.job.meta.key.name = name;
    model.job.spec.terminate = terminate;
    return model;
  };
  const auto sibling = [](const char* name, bool terminate, bool sent) {
    return Sibling{
        .name = name, .type = "warmup", .created = kNow, .sent = sent, .terminate = terminate};
  };
  for (const char* stop : {"a-stop", "z-stop"}) {
    Model reload = of("reload", false);
    reload.world.siblings = {sibling(stop, true, false)};
    reload.settle();
    EXPECT_EQ(reload.reason(), "Terminating");
    EXPECT_TRUE(reload.asked.empty());
    reload.world.siblings = {sibling(stop, true, true)};
    reload.settle();
    EXPECT_EQ(reload.asked.size(), 2u);

    Model runs = of("runs", false);
    runs.settle();
    runs.world.siblings = {sibling(stop, true, false)};
    runs.settle();
    EXPECT_EQ(runs.message("Failed"), "cancelled by samplejob " + std::string(stop));

    Model terminator = of(stop, true);
    terminator.world.siblings = {sibling("reload", false, false), sibling("runs", false, true)};
    terminator.settle();
    EXPECT_EQ(terminator.message(), "waiting for 1 older jobs of the set to be cancelled");
    terminator.world.siblings.pop_back();
    terminator.settle();
    EXPECT_EQ(terminator.asked.size(), 2u);
  }
  Model first = of("a-stop", true);
  first.world.siblings = {sibling("z-stop", true, false)};
  first.settle();
  EXPECT_EQ(first.message("Failed"), "cancelled by samplejob z-stop");
}

TEST(SampleJobPlan, AYoungerJobThatTerminatesCancelsTheOlderAndWaitsForIt) {
  Model older;
  older.settle();
  older.say(0, JobState::kRunning);
  older.world.siblings = {{.name = "new", .created = kNow + 1s, .terminate = true}};
  older.settle();
  EXPECT_EQ(older.job.status.phase, "Failed");
  EXPECT_EQ(older.message("Failed"), "cancelled by samplejob new");
  EXPECT_EQ(older.cancelled.size(), 2u);

  Model younger;
  younger.job.meta.created = kNow + 1s;
  younger.job.spec.terminate = true;
  younger.world.siblings = {{.name = "old", .type = "sync", .created = kNow, .sent = true}};
  younger.settle();
  EXPECT_EQ(younger.reason(), "Terminating");
  younger.world.siblings.clear();
  younger.settle();
  EXPECT_EQ(younger.asked.size(), 2u);
}

TEST(SampleJobPlan, JobsOfOneKindTakeTheirTurns) {
  const api::SampleJob job = job_of();
  const auto sibling = [](const char* name, std::chrono::seconds age, bool sent,
                          const char* type = "warmup") {
    return Sibling{.name = name, .type = type, .created = kNow - age, .sent = sent};
  };
  EXPECT_EQ(ahead_of(job, {}), 0);
  EXPECT_EQ(ahead_of(job, {sibling("a", 1s, false)}), 1);
  EXPECT_EQ(ahead_of(job, {sibling("a", 1s, false, "sync")}), 0);
  EXPECT_EQ(ahead_of(job, {sibling("z", 0s, false)}), 0);
  EXPECT_EQ(ahead_of(job, {sibling("a", 0s, false)}), 1);
  Sibling stuck = sibling("a", 1s, false);
  stuck.waits = true;
  EXPECT_EQ(ahead_of(job, {stuck}), 0);
  std::vector<Sibling> many;
  for (int i = 0; i < kSentAtOnce; ++i) many.push_back(sibling("s", 5s, true));
  EXPECT_EQ(ahead_of(job, many), kSentAtOnce);
  many.pop_back();
  EXPECT_EQ(ahead_of(job, many), 0);
}

TEST(SampleJobPlan, PartitionsThatAreGoneAreNotWaitedFor) {
  Model model{.world = world_of(3)};
  model.settle();
  model.say(0, JobState::kSucceeded);
  model.say(1, JobState::kSucceeded);
  model.world.set = set_of(2);
  model.world.reports.pop_back();
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Failed");
  EXPECT_EQ(model.message("Failed"), "partition 2 on node2: the set has fewer partitions now");
}

TEST(SampleJobPlan, ASuspendedJobIsCancelledAndBeginsAgain) {
  Model model;
  model.settle();
  model.job.spec.suspend = true;
  model.settle();
  EXPECT_EQ(model.cancelled.size(), 2u);
  EXPECT_EQ(model.reason(), "Suspended");
  model.job.spec.suspend = false;
  model.job.meta.generation = 2;
  model.settle();
  EXPECT_EQ(model.asked.size(), 4u);
}

TEST(SampleJobPlan, AFinishedJobIsDeletedWhenItsTimeIsOver) {
  Model model;
  model.job.spec.ttl_seconds_after_finished = 10;
  model.settle();
  model.say(0, JobState::kSucceeded);
  model.say(1, JobState::kSucceeded);
  model.settle();
  EXPECT_EQ(model.pass().requeue_after, 10s);
  model.now += 10s;
  model.pass();
  EXPECT_TRUE(model.deleted);
}

TEST(SampleJobPlan, AnImpossibleOptionFailsAtOnceWithTheWayOut) {
  Model model{.job = job_of("sync")};
  model.job.spec.sync = api::SyncOptions{.exclude = ".*\\.jpg$"};
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Failed");
  EXPECT_NE(model.message("Failed").find("globs"), std::string::npos);
  EXPECT_TRUE(model.asked.empty());
}

TEST(SampleJobPlan, ADeletedJobIsLeftAloneButForTheFinalizerOfOlderOperators) {
  Model model;
  model.job.meta.deleted = kNow;
  EXPECT_TRUE(model.pass().actions.empty());
  model.job.meta.finalizers = {finalizer_of(model.job)};
  ASSERT_EQ(model.pass().actions.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<RemoveFinalizer>(model.pass().actions[0]));
}

}  // namespace
}  // namespace paddle::controllers::sample_job
