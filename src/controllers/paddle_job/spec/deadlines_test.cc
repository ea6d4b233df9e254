// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/spec/deadlines.h"

#include <gtest/gtest.h>

#include "controllers/paddle_job/testing/plan_fixture.h"

namespace paddle::controllers::paddle_job {
namespace {

using std::chrono::seconds;

TEST(Deadlines, B14_ThePauseBeforeARestartGrows) {
  auto job = workers(1, R"({"backoffLimit": 9})");
  job.status.epoch = 3;
  job.status.failures = 3;
  job.status.restart_time = kNow;
  const auto plan = plan_for(job, {});
  EXPECT_TRUE(created(plan).empty());
  EXPECT_EQ(plan.requeue_after, seconds{20});
  EXPECT_EQ(plan.status->phase, "Restarting");
  EXPECT_EQ(created(plan_for(job, {}, {}, kNow + seconds{20})), Names{"demo-worker-0"});
}

TEST(Deadlines, B14_APassedDeadlineFailsTheJobAndStopsItsPods) {
  auto job = workers(2, R"({"activeDeadlineSeconds": 60, "cleanPodPolicy": "Never"})");
  const auto world = published(job, all_of(job, running));
  const auto plan = plan_for(job, world);
  EXPECT_EQ(plan.requeue_after, seconds{60});
  EXPECT_EQ(plan.status_delay, seconds{0});
  job.status = *plan.status;
  EXPECT_EQ(status_after(job, world, {}, kNow + seconds{59}).phase, "Running");
  const auto late = status_after(job, world, {}, kNow + seconds{60});
  EXPECT_EQ(late.phase, "Failed");
  EXPECT_EQ(reason(late, "Failed"), "DeadlineExceeded");
  job.status = late;
  EXPECT_EQ(stopped(plan_for(job, world, {}, kNow + seconds{60})),
            (Names{"demo-worker-0", "demo-worker-1"}));
}

TEST(Deadlines, WaitingForAQueueOrANodeDoesNotCountAgainstTheDeadline) {
  auto job = workers(2, R"({"activeDeadlineSeconds": 60})");
  const auto waiting = world_of(all_of(job, pending));
  job.status = status_after(job, waiting);
  EXPECT_FALSE(job.status.active_time);
  const auto later = kNow + seconds{3'600};
  EXPECT_EQ(status_after(job, waiting, {}, later).phase, "Pending");

  // One pod has a node: from now on the job holds resources.
  const auto begun = world_of({coordinated(job, kWorker, 0), pending(job, kWorker, 1)});
  const auto plan = plan_for(job, begun, {}, later);
  EXPECT_EQ(plan.requeue_after, seconds{60});
  job.status = *plan.status;
  EXPECT_EQ(job.status.active_time, later);
  EXPECT_EQ(reason(status_after(job, begun, {}, later + seconds{60}), "Failed"),
            "DeadlineExceeded");
}

TEST(Deadlines, ARestartDoesNotExtendTheDeadline) {
  auto job = workers(1, R"({"activeDeadlineSeconds": 60, "backoffLimit": 1})");
  job.status = status_after(job, published(job, {running(job, kWorker, 0)}));
  job.status =
      status_after(job, published(job, {exited(job, kWorker, 0, 1)}), {}, kNow + seconds{30});
  EXPECT_EQ(job.status.epoch, 1);
  EXPECT_EQ(job.status.active_time, kNow);
}

TEST(Deadlines, B14_TheTimeOfASuspensionDoesNotCountAgainstTheDeadline) {
  auto job = workers(1, R"({"activeDeadlineSeconds": 60})");
  job.status = status_after(job, published(job, {running(job, kWorker, 0)}));
  ASSERT_EQ(job.status.active_time, kNow);
  job.spec.suspend = true;
  job.status = status_after(job, {}, {}, kNow + seconds{30});
  ASSERT_EQ(job.status.phase, "Suspended");
  EXPECT_FALSE(job.status.active_time);

  job.spec.suspend = false;
  const auto resumed = kNow + seconds{600};
  job.status = status_after(job, {}, {}, resumed);
  const auto world = world_of({coordinated(job, kWorker, 0)});
  const auto plan = plan_for(job, world, {}, resumed + seconds{5});
  EXPECT_EQ(plan.requeue_after, seconds{60});
  ASSERT_TRUE(plan.status);
  job.status = *plan.status;
  EXPECT_EQ(job.status.active_time, resumed + seconds{5});
}

TEST(Deadlines, AJobOfAnOlderOperatorHasBeenActiveSinceItStarted) {
  auto job = workers(1, R"({"activeDeadlineSeconds": 60})");
  job.status.phase = "Running";
  job.status.start_time = kNow - seconds{40};
  const auto world = published(job, {running(job, kWorker, 0)});
  EXPECT_EQ(plan_for(job, world).requeue_after, seconds{20});
}

TEST(Deadlines, DisruptionsAreCountedFromZeroAgainAfterAnHourOfRunning) {
  auto job = workers(2, R"({"disruptionLimit": 2})");
  job.status.phase = "Running";
  job.status.disruptions = 2;
  job.status.running_time = kNow;
  const auto world = published(job, {running(job, kWorker, 0), evicted(job, kWorker, 1)});
  const auto early = status_after(job, world, {}, kNow + seconds{3'599});
  EXPECT_EQ(reason(early, "Failed"), "DisruptionLimitExceeded");
  const auto late = status_after(job, world, {}, kNow + seconds{3'600});
  EXPECT_EQ(late.phase, "Restarting");
  EXPECT_EQ(late.disruptions, 1);
  EXPECT_FALSE(late.running_time);  // the next run has to last an hour of its own
}

TEST(Deadlines, B14_AFinishedJobIsDeletedWhenItsTimeToLiveHasPassed) {
  auto job = workers(1, R"({"ttlSecondsAfterFinished": 100})");
  job.status.phase = "Completed";
  job.status.completion_time = kNow;
  EXPECT_EQ(plan_for(job, {}).requeue_after, seconds{100});
  EXPECT_TRUE(only<DeleteJob>(plan_for(job, {})).empty());
  EXPECT_EQ(only<DeleteJob>(plan_for(job, {}, {}, kNow + seconds{100})).size(), 1u);
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
