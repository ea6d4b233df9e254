// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/plan.h"

#include <gtest/gtest.h>

#include "controllers/sample_job/spec/names.h"
#include "controllers/sample_job/testing/plan_fixture.h"

namespace paddle::controllers::sample_job {
namespace {

using namespace std::chrono_literals;
using runtime::JobState;

TEST(SampleJobPlan, AWarmUpGoesThroughItsPhasesOnEveryPartition) {
  JobModel model;
  model.settle();
  EXPECT_EQ(model.requested.size(), 2u);
  EXPECT_EQ(model.job.status.phase, "Pending");
  model.report(0).job->state = JobState::kRunning;
  model.report(0).job->progress.bytes_total = 100;
  model.report(0).job->progress.bytes_done = 50;
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Running");
  EXPECT_EQ(model.job.status.progress, "50% 50 B/100 B");
  EXPECT_EQ(model.job.status.partitions[0].node, "node0");
  model.reports(0, JobState::kSucceeded);
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Running");
  model.reports(1, JobState::kSucceeded);
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Succeeded");
  EXPECT_EQ(model.job.status.completion_time, kNow);
  EXPECT_EQ(model.requested.size(), 2u);
  EXPECT_EQ(model.events, (std::vector<std::string>{"CreateWarmupJobSuccessfully", "Progress",
                                                    "DoWarmupJobSuccessfully"}));
  EXPECT_EQ(model.reason("Complete"), "Succeeded");
}

TEST(SampleJobPlan, AChangedSpecRestartsAFailedJobButNotASucceededOne) {
  JobModel model;
  model.settle();
  model.reports(0, JobState::kFailed, "cut");
  model.reports(1, JobState::kFailed, "cut");
  model.settle();
  ASSERT_EQ(model.job.status.phase, "Failed");
  model.job.meta.generation = 2;
  for (auto& each : model.world.reports) each.job.reset();
  model.settle();
  EXPECT_EQ(model.requested.size(), 4u);
  EXPECT_EQ(model.reason("Failed"), "(none)");
  EXPECT_EQ(model.job.status.failures, 0);
  model.reports(0, JobState::kSucceeded);
  model.reports(1, JobState::kSucceeded);
  model.settle();
  model.job.meta.generation = 3;
  model.settle();
  EXPECT_EQ(model.requested.size(), 4u);
  EXPECT_EQ(model.job.status.phase, "Succeeded");
}

TEST(SampleJobPlan, AnAttemptKeepsTheGenerationThatItStartedWith) {
  JobModel model;
  model.settle();
  model.job.meta.generation = 2;
  model.settle();
  EXPECT_EQ(model.job.status.observed_generation, 1);
  model.reports(0, JobState::kFailed, "cut");
  model.reports(1, JobState::kFailed, "cut");
  for (int i = 0; i < 3; ++i) model.pass();
  EXPECT_EQ(model.job.status.observed_generation, 2) << "it begins again with what it says now";
}

TEST(SampleJobPlan, AFinishedJobIsDeletedWhenItsTtlIsOver) {
  JobModel model;
  model.job.spec.ttl_seconds_after_finished = 10;
  model.settle();
  model.reports(0, JobState::kSucceeded);
  model.reports(1, JobState::kSucceeded);
  model.settle();
  EXPECT_EQ(model.pass().requeue_after, 10s);
  model.now += 10s;
  model.pass();
  EXPECT_TRUE(model.deleted);
}

TEST(SampleJobPlan, AnExpiredJobIsDeletedOnlyAfterItsStatusHasBeenStored) {
  JobModel model;
  model.job.spec.ttl_seconds_after_finished = 10;
  model.settle();
  model.reports(0, JobState::kSucceeded);
  model.reports(1, JobState::kSucceeded);
  model.settle();
  model.now += 10s;
  model.job.status.left = {{.index = 1, .id = "job-old"}};
  const Plan plan = model.pass();
  EXPECT_EQ(model.cancelled, std::vector<std::string>{"1:job-old"});
  EXPECT_TRUE(plan.status);
  EXPECT_EQ(plan.requeue_after, 0s);
  EXPECT_FALSE(model.deleted);
  model.pass();
  EXPECT_TRUE(model.deleted);
}

TEST(SampleJobPlan, AJobThatGetsAScheduleOrLosesItSaysNothingOfBefore) {
  JobModel model;
  model.job.spec.suspend = true;
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Pending");
  EXPECT_EQ(model.reason("Ready"), "Suspended");
  model.job.spec.schedule = "@hourly";
  model.pass();
  EXPECT_EQ(model.job.status.phase, "");
  EXPECT_EQ(model.reason("Ready"), "(none)");
  EXPECT_EQ(model.reason("Scheduled"), "Suspended");
  model.job.spec.schedule.clear();
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Pending");
  EXPECT_EQ(model.reason("Scheduled"), "(none)");
  EXPECT_FALSE(model.job.status.cron);
}

TEST(SampleJobPlan, OfADeletedJobOnlyTheFinalizerOfOlderOperatorsIsRemoved) {
  JobModel model;
  model.job.meta.deleted = kNow;
  EXPECT_TRUE(is_empty(model.pass()));
  model.job.meta.finalizers = {finalizer_of(model.job)};
  const Plan plan = model.pass();
  ASSERT_EQ(actions_of(plan).size(), 1u);
  EXPECT_TRUE(std::holds_alternative<RemoveFinalizer>(actions_of(plan)[0]));
  EXPECT_FALSE(plan.status);
}

}  // namespace
}  // namespace paddle::controllers::sample_job
