// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/decide/cancellation.h"

#include <gtest/gtest.h>

#include "controllers/sample_job/testing/plan_fixture.h"

namespace paddle::controllers::sample_job {
namespace {

using namespace std::chrono_literals;
using runtime::JobState;

TEST(SampleJobCancellation, TheDeadlineCancelsUnfinishedParts) {
  JobModel model;
  model.job.spec.active_deadline_seconds = 60;
  model.settle();
  model.reports(0, JobState::kRunning);
  model.reports(1, JobState::kSucceeded);
  model.now += 59s;
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Running");
  model.now += 1s;
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Failed");
  EXPECT_EQ(model.reason("Failed"), "DeadlineExceeded");
  EXPECT_EQ(model.cancelled, (std::vector<std::string>{"0:" + model.job.status.job_name}));
}

TEST(SampleJobCancellation, ASuspendedJobIsCancelledAndStartsAgainWhenResumed) {
  JobModel model;
  model.settle();
  model.job.spec.suspend = true;
  model.settle();
  EXPECT_EQ(model.cancelled.size(), 2u);
  EXPECT_EQ(model.reason(), "Suspended");
  model.job.spec.suspend = false;
  model.job.meta.generation = 2;
  model.settle();
  EXPECT_EQ(model.requested.size(), 4u);
}

TEST(SampleJobCancellation, AResumedJobHasItsFullDeadlineAgain) {
  JobModel model;
  model.job.spec.active_deadline_seconds = 60;
  model.settle();
  model.job.spec.suspend = true;
  model.settle();
  model.now += 3600s;
  model.job.spec.suspend = false;
  model.job.meta.generation = 2;
  model.settle();
  EXPECT_EQ(model.requested.size(), 4u);
  EXPECT_EQ(model.job.status.start_time, model.now);
}

TEST(SampleJobCancellation, APartOfAnUnreachableRuntimeIsCancelledWhenTheRuntimeIsBack) {
  for (const bool suspended : {false, true}) {
    JobModel model;
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

}  // namespace
}  // namespace paddle::controllers::sample_job
