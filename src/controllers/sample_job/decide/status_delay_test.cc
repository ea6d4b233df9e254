// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/decide/status_delay.h"

#include <gtest/gtest.h>

#include "controllers/sample_job/testing/plan_fixture.h"

namespace paddle::controllers::sample_job {
namespace {

using namespace std::chrono_literals;
using runtime::JobState;

// Two runtimes that work, and the plan after they have done this much.
Plan plan_at(JobModel& model, std::int64_t done, std::optional<std::chrono::nanoseconds> since) {
  for (int i = 0; i < 2; ++i) {
    model.reports(i, JobState::kRunning);
    model.report(i).job->progress = {.bytes_total = 1000, .bytes_done = done};
  }
  model.world.since_status_write = since;
  return desired(model.job, model.world, {}, model.now);
}

TEST(SampleJobStatusDelay, ProgressIsWrittenAtMostEveryFiveSeconds) {
  JobModel model;
  model.settle();
  EXPECT_EQ(plan_at(model, 10, 0s).status_delay, 0s) << "it is Running now";
  (void)plan_at(model, 10, 0s);
  model.settle();
  EXPECT_EQ(plan_at(model, 20, 0s).status_delay, 5s);
  EXPECT_EQ(plan_at(model, 20, 4s).status_delay, 1s);
  EXPECT_EQ(plan_at(model, 20, 5s).status_delay, 0s);
  EXPECT_EQ(plan_at(model, 20, std::nullopt).status_delay, 0s);
  EXPECT_EQ(plan_at(model, 300, 0s).status_delay, 0s) << "a quarter is an event";
}

TEST(SampleJobStatusDelay, EveryOtherChangeIsWrittenAtOnce) {
  JobModel model;
  model.settle();
  (void)plan_at(model, 10, 0s);
  model.settle();
  model.reports(0, JobState::kSucceeded);
  EXPECT_EQ(desired(model.job, model.world, {}, model.now).status_delay, 0s);
  model.reports(1, JobState::kSucceeded);
  const Plan end = desired(model.job, model.world, {}, model.now);
  ASSERT_TRUE(end.status);
  EXPECT_EQ(end.status->phase, "Succeeded");
  EXPECT_EQ(end.status_delay, 0s);
}

}  // namespace
}  // namespace paddle::controllers::sample_job
