// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/decide/start.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "controllers/sample_job/spec/names.h"
#include "controllers/sample_job/testing/plan_fixture.h"

namespace paddle::controllers::sample_job {
namespace {

using namespace std::chrono_literals;
using runtime::JobState;

TEST(SampleJobStart, TheIdIsStoredBeforeAnyRuntimeReceivesIt) {
  const Plan plan = desired(job_of(), world_of(1), {}, kNow);
  EXPECT_TRUE(actions_of(plan).empty());
  ASSERT_TRUE(plan.status);
  EXPECT_TRUE(plan.status->job_name.starts_with(id_prefix(job_of().meta)));
  EXPECT_TRUE(runtime::is_job_id(plan.status->job_name)) << plan.status->job_name;
  EXPECT_EQ(plan.requeue_after, 0s);
}

TEST(SampleJobStart, OnASharedVolumeTheFirstRuntimeAloneRemoves) {
  for (const auto& [type, all] :
       {std::pair{"sync", 3u}, std::pair{"rmr", 1u}, std::pair{"warmup", 3u},
        std::pair{"clear", 3u}, std::pair{"verify", 3u}}) {
    JobModel model{.job = job_of(type), .world = world_of(3, true)};
    model.settle();
    EXPECT_EQ(model.requested.size(), all) << type;
    JobModel apart{.job = job_of(type), .world = world_of(3, false)};
    apart.settle();
    EXPECT_EQ(apart.requested.size(), 3u) << type;
  }
}

TEST(SampleJobStart, AJobThatTheEngineDoesNotRunFailsWithTheNextStepAndIsNotSent) {
  JobModel model{.job = job_of("verify"), .world = world_of(2, true)};
  model.world.refusal = "type verify is for sets of the engine samplefs; clear it";
  model.world.reports.clear();  // no runtime is waited for
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Failed");
  EXPECT_EQ(model.reason("Failed"), "InvalidSpec");
  EXPECT_EQ(model.message("Failed"), model.world.refusal);
  EXPECT_TRUE(model.requested.empty());
  EXPECT_EQ(model.events, std::vector<std::string>{"ErrorDoVerifyJob"});
}

TEST(SampleJobStart, ASyncIsDividedAmongTheRuntimesThatRun) {
  JobModel model{.job = job_of("sync"), .world = world_of(3, true)};
  std::erase_if(model.world.reports,
                [](const PartitionReport& each) { return each.partition == 1; });
  for (int i = 0; i < 3; ++i) {
    const Plan plan = desired(model.job, model.world, {}, kNow);
    for (const Action& action : actions_of(plan)) {
      if (const auto* put = std::get_if<PutJob>(&action); put && put->partition == 2) {
        EXPECT_EQ(put->request.sync.part, 1);
        EXPECT_EQ(put->request.sync.parts, 2);
      }
    }
    if (plan.status) model.job.status = *plan.status;
  }
  EXPECT_EQ(model.job.status.partitions.size(), 2u);
}

TEST(SampleJobStart, ADryOrSourceDeletingSyncIsNotDivided) {
  for (const bool dry : {true, false}) {
    JobModel model{.job = job_of("sync"), .world = world_of(3, true)};
    model.job.spec.sync = api::SyncOptions{.dry = dry, .delete_src = !dry};
    model.settle();
    EXPECT_EQ(model.requested.size(), 1u);
    model.reports(0, JobState::kSucceeded);
    model.settle();
    EXPECT_EQ(model.job.status.phase, "Succeeded");
    EXPECT_TRUE(model.completed.empty());  // the runtime records it by itself
  }
}

TEST(SampleJobStart, AnInvalidOptionFailsAtOnceAndNamesTheAlternative) {
  JobModel model{.job = job_of("sync")};
  model.job.spec.sync = api::SyncOptions{.exclude = ".*\\.jpg$"};
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Failed");
  EXPECT_NE(model.message("Failed").find("globs"), std::string::npos);
  EXPECT_TRUE(model.requested.empty());
}

TEST(SampleJobStart, AnEventNamesTheUserWhoAskedForADeletionOnce) {
  JobModel model{.job = job_of("rmr")};
  model.job.meta.annotations["batch.paddlepaddle.org/requested-by"] = "alice";
  model.job.spec.backoff_limit = 1;
  const Plan plan = model.pass();
  const auto events = actions_of(plan);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(std::get<EmitEvent>(events[0]),
            (EmitEvent{false, "DeletionRequested", "rmr removes '/train'; requested by 'alice'"}));
  model.settle();
  model.reports(0, JobState::kFailed, "cut");
  model.reports(1, JobState::kSucceeded);
  model.settle();
  model.now += 5s;
  model.settle();
  EXPECT_EQ(std::ranges::count(model.events, "DeletionRequested"), 1) << "not for each attempt";
}

TEST(SampleJobStart, AnUnknownTypeFailsAtOnceWithTheTypesThatThereAre) {
  JobModel model{.job = job_of("defrag")};
  model.settle();
  EXPECT_EQ(model.reason("Failed"), "InvalidSpec");
  EXPECT_TRUE(model.message("Failed").starts_with("spec.type is not one of sync, "))
      << model.message("Failed");
  EXPECT_EQ(model.events, std::vector<std::string>{"ErrorDoDefragJob"});
  EXPECT_TRUE(model.requested.empty());
}

TEST(SampleJobStart, AFailedAttemptIsRepeatedUnderAnotherIdUpToTheBackoffLimit) {
  JobModel model;
  model.job.spec.backoff_limit = 1;
  model.settle();
  const std::string first = model.job.status.job_name;
  model.reports(0, JobState::kFailed, "cut");
  model.reports(1, JobState::kSucceeded);
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Pending");
  EXPECT_EQ(model.reason(), "Retrying");
  EXPECT_EQ(model.requested.size(), 2u);
  model.now += 5s;
  model.settle();
  EXPECT_EQ(model.requested.size(), 4u);
  EXPECT_NE(model.job.status.job_name, first);
  model.reports(0, JobState::kFailed, "cut again");
  model.reports(1, JobState::kSucceeded);
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Failed");
  EXPECT_EQ(model.job.status.failures, 2);
}

TEST(SampleJobStart, ARetryPauseCountsFromTheLastFailure) {
  JobModel model;
  model.job.spec.backoff_limit = 20;
  model.world.set.reset();
  model.settle();
  model.now += 600s;  // it has waited for its set
  model.world = world_of(2);
  model.settle();
  const auto fails = [&] {
    model.reports(0, JobState::kFailed, "no such bucket");
    model.reports(1, JobState::kFailed, "no such bucket");
    model.settle();
    EXPECT_EQ(model.reason(), "Retrying");
  };
  fails();
  EXPECT_EQ(model.pass().requeue_after, 5s);
  model.now += 5s;
  model.settle();
  ASSERT_EQ(model.requested.size(), 4u);
  fails();
  EXPECT_EQ(model.pass().requeue_after, 10s);
  // What blocks it meanwhile does not shorten the pause.
  model.job.spec.suspend = true;
  model.settle();
  model.job.spec.suspend = false;
  model.settle();
  EXPECT_EQ(model.reason(), "Retrying");
  EXPECT_EQ(model.requested.size(), 4u);
  model.now += 10s;
  model.settle();
  EXPECT_EQ(model.requested.size(), 6u);
}

TEST(SampleJobStart, TheDeadlineAppliesWhileARetryIsPending) {
  JobModel model;
  model.job.spec.active_deadline_seconds = 60;
  model.job.spec.backoff_limit = 20;
  model.settle();
  model.reports(0, JobState::kFailed, "cut");
  model.reports(1, JobState::kFailed, "cut");
  model.settle();
  model.world.set.reset();
  model.now += 55s;
  EXPECT_EQ(model.pass().requeue_after, 5s);
  model.now += 5s;
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Failed");
  EXPECT_EQ(model.reason("Failed"), "DeadlineExceeded");
}

}  // namespace
}  // namespace paddle::controllers::sample_job
