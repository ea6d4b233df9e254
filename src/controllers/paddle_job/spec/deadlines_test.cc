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
  EXPECT_EQ(plan_for(job, world).requeue_after, seconds{60});
  const auto late = status_after(job, world, {}, kNow + seconds{60});
  EXPECT_EQ(late.phase, "Failed");
  EXPECT_EQ(reason(late, "Failed"), "DeadlineExceeded");
  job.status = late;
  EXPECT_EQ(deleted(plan_for(job, world)), (Names{"demo-worker-0", "demo-worker-1"}));
}

TEST(Deadlines, B14_TheTimeOfASuspensionDoesNotCountAgainstTheDeadline) {
  auto job = workers(1, R"({"activeDeadlineSeconds": 60, "suspend": true})");
  job.status = status_after(job, {});
  ASSERT_EQ(job.status.phase, "Suspended");

  job.spec.suspend = false;
  const auto resumed = kNow + seconds{600};
  const auto plan = plan_for(job, {}, {}, resumed);
  EXPECT_EQ(created(plan), Names{"demo-worker-0"});
  EXPECT_EQ(plan.requeue_after, seconds{60});
  ASSERT_TRUE(plan.status);
  job.status = *plan.status;
  EXPECT_EQ(plan_for(job, {}, {}, resumed + seconds{10}).requeue_after, seconds{50});
  const auto late = status_after(job, {}, {}, resumed + seconds{60});
  EXPECT_EQ(reason(late, "Failed"), "DeadlineExceeded");

  job.spec.suspend = true;  // once more, when the time it had has long passed
  job.status = status_after(job, {}, {}, resumed + seconds{30});
  job.spec.suspend = false;
  EXPECT_EQ(status_after(job, {}, {}, resumed + seconds{900}).phase, "Pending");
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
