// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/decide/progress.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "controllers/sample_job/testing/plan_fixture.h"

namespace paddle::controllers::sample_job {
namespace {

using namespace std::chrono_literals;
using runtime::JobState;

TEST(SampleJobProgress, WithoutARuntimeNoJobSucceeds) {
  JobModel model;
  model.settle();
  model.world.reports.clear();
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Pending");
  EXPECT_EQ(model.job.status.partitions[0].message, "its runtime is away");
}

TEST(SampleJobProgress, ARestartedRuntimeGetsItsPartAgainUnlessItSucceeded) {
  JobModel model;
  model.settle();
  model.reports(0, JobState::kSucceeded);
  model.reports(1, JobState::kRunning);
  model.settle();
  model.report(0).job.reset();  // both pods moved: their journals are gone
  model.report(1).job.reset();
  model.settle();
  EXPECT_EQ(model.requested.size(), 3u);
  EXPECT_EQ(model.requested[2], "1:" + model.job.status.job_name);
}

TEST(SampleJobProgress, DoesNotWaitForPartitionsThatNoLongerExist) {
  JobModel model{.world = world_of(3)};
  model.settle();
  model.reports(0, JobState::kSucceeded);
  model.reports(1, JobState::kSucceeded);
  model.world.set = set_of(2);
  model.world.reports.pop_back();
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Failed");
  EXPECT_EQ(model.message("Failed"), "partition 2 on node2: the set has fewer partitions now");
}

TEST(SampleJobProgress, ARemovalRequestHasTheTimeAtWhichItWasFirstAccepted) {
  JobModel model{.job = job_of("rmr"), .world = world_of(2, true)};
  model.settle();
  model.now += 1h;
  model.report(0).job.reset();  // it moved to another node
  const Plan plan = desired(model.job, model.world, {}, model.now);
  const auto put = std::get<PutJob>(actions_of(plan).front());
  EXPECT_EQ(put.request.which.accepted,
            std::chrono::duration_cast<std::chrono::milliseconds>(kNow.time_since_epoch()).count());
}

TEST(SampleJobProgress, ARepeatedRemovalRequestIsMarkedAsSuch) {
  JobModel model{.job = job_of("rmr"), .world = world_of(1, true)};
  const auto again = [&] {
    const Plan plan = model.pass();
    for (const Action& action : actions_of(plan)) {
      if (const auto* put = std::get_if<PutJob>(&action)) return put->request.which.again;
    }
    ADD_FAILURE() << "no request was sent";
    return false;
  };
  model.pass();  // stores the id
  EXPECT_FALSE(again());
  model.settle();
  model.report(0).job.reset();  // a restarted runtime, which knows nothing
  EXPECT_TRUE(again());
}

TEST(SampleJobProgress, ADividedSyncSendsEachPartitionItsOwnPart) {
  const JobModel model = divided_sync();
  EXPECT_EQ(model.requested.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    JobModel other = model;
    other.report(i).job.reset();  // it moved to another node
    const Plan plan = desired(other.job, other.world, {}, kNow);
    const auto put = std::get<PutJob>(actions_of(plan).front());
    EXPECT_EQ(put.partition, i);
    EXPECT_EQ(put.request.sync.part, i);
    EXPECT_EQ(put.request.sync.parts, 3);
    EXPECT_EQ(put.request.sync.lists_at, "imagenet-runtime-0.imagenet-runtime-service.ns:7716");
  }
}

TEST(SampleJobProgress, ADividedSyncIsMarkedCompleteOnceWhenAllPartsAreDone) {
  JobModel model = divided_sync();
  model.finishes_part(0, "x");
  model.finishes_part(2, "x");
  model.settle();
  EXPECT_TRUE(model.completed.empty());
  EXPECT_EQ(model.job.status.phase, "Pending");
  model.finishes_part(1, "x");
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Succeeded");
  EXPECT_EQ(model.completed, std::vector<std::string>{model.job.status.job_name + "-all"});
  EXPECT_EQ(model.requested.size(), 3u);
}

TEST(SampleJobProgress, ADividedSyncIsMarkedCompleteBeforeItIsReportedAsSucceeded) {
  JobModel model = divided_sync();
  for (int i = 0; i < 3; ++i) model.finishes_part(i, "x");
  const Plan plan = model.pass();
  const auto actions = actions_of(plan);
  const auto is_mark = [](const Action& a) { return std::holds_alternative<MarkSyncComplete>(a); };
  const auto mark = std::ranges::find_if(actions, is_mark);
  ASSERT_NE(mark, actions.end());
  const auto says = std::ranges::find(
      actions, Action{EmitEvent{false, "DoSyncJobSuccessfully", model.message("Complete")}});
  EXPECT_LT(mark, says);
  EXPECT_NE(says, actions.end());
  ASSERT_TRUE(plan.status) << "written after the actions";
  EXPECT_EQ(plan.status->phase, "Succeeded");
}

TEST(SampleJobProgress, PartsOfTwoDivisionsAreDividedAgain) {
  JobModel model = divided_sync();
  const std::string before = model.job.status.job_name;
  model.finishes_part(0, "y");  // its runtime lost its disk and divided again
  model.finishes_part(1, "x");
  model.finishes_part(2, "x");
  model.settle();
  EXPECT_EQ(model.job.status.job_name, before + ".1");
  EXPECT_TRUE(model.completed.empty());
  EXPECT_EQ(model.requested.size(), 6u);
  for (int i = 0; i < 3; ++i) model.finishes_part(i, "z");
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Succeeded");
  EXPECT_EQ(model.completed, std::vector<std::string>{before + ".1-all"});
}

TEST(SampleJobProgress, AFailedPartFailsADividedSyncAndIsNamed) {
  JobModel model = divided_sync();
  model.reports(0, JobState::kRunning);
  model.reports(1, JobState::kFailed, "no such bucket");
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Failed");
  EXPECT_EQ(model.cancelled.size(), 2u);
  EXPECT_NE(model.message("Failed").find("partition 1 on node1: no such bucket"), std::string::npos)
      << model.message("Failed");
  EXPECT_TRUE(model.completed.empty());
}

TEST(SampleJobProgress, ASetWithFewerPartitionsDividesItsSyncAgain) {
  JobModel model = divided_sync();
  const std::string before = model.job.status.job_name;
  model.world.set->spec.partitions = 2;
  model.world.reports.pop_back();
  model.settle();
  EXPECT_EQ(model.job.status.job_name, before + ".1");
  EXPECT_EQ(model.job.status.partitions.size(), 2u);
}

TEST(SampleJobProgress, ThePartOfAnAbsentRuntimeIsDividedAmongTheOthers) {
  JobModel model = divided_sync();
  const std::string before = model.job.status.job_name;
  model.reports(2, JobState::kRunning);
  model.settle();
  model.finishes_part(0, "x");
  model.finishes_part(1, "x");
  model.report(2) = {.partition = 2, .error = "no answer"};
  model.settle();
  EXPECT_EQ(model.job.status.job_name, before);  // it may come back
  model.now += 60s;
  model.pass();
  EXPECT_EQ(model.job.status.job_name, before + ".1");
  ASSERT_EQ(model.job.status.partitions.size(), 2u);
  EXPECT_EQ(model.message(), "divided again: partition 2: no answer");
  model.settle();
  EXPECT_TRUE(model.cancelled.empty());
  for (int i = 0; i < 2; ++i) model.finishes_part(i, "y");
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Succeeded");
  ASSERT_EQ(model.job.status.left.size(), 1u);
  model.report(2).error.clear();  // it is back, and would continue
  model.settle();
  EXPECT_EQ(model.cancelled, std::vector<std::string>{"2:" + before});
  EXPECT_TRUE(model.job.status.left.empty());
}

}  // namespace
}  // namespace paddle::controllers::sample_job
