// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/decide/status.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "controllers/sample_job/testing/plan_fixture.h"

namespace paddle::controllers::sample_job {
namespace {

using runtime::JobState;

TEST(SampleJobStatus, ASyncReportsWhatItLeftOut) {
  JobModel model;
  model.job = job_of("sync");
  model.settle();
  for (const int partition : {0, 1}) {
    model.reports(partition, JobState::kSucceeded);
    model.report(partition).job->progress.left_out = {.count = 7,
                                                      .examples = {"'a//b' (an empty part)"}};
  }
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Succeeded");
  EXPECT_NE(model.message("Complete")
                .find("; 7 objects of the source are left out: 'a//b' (an "
                      "empty part) and 6 more"),
            std::string::npos)
      << model.message("Complete");
}

TEST(SampleJobStatus, ARemovalReportsTheNewerFilesThatItLeft) {
  JobModel model;
  model.job = job_of("rmr");
  model.job.spec.rmr = api::RmrOptions{.paths = {"train"}};
  model.world.shares_volume = true;
  model.settle();
  model.reports(0, JobState::kSucceeded);
  model.report(0).job->progress.left_out = {.count = 7};
  model.report(0).job->kind = runtime::JobKind::kRemove;
  model.settle();
  EXPECT_NE(model.message("Complete").find("; 7 files that are newer than the removal are left"),
            std::string::npos)
      << model.message("Complete");
}

TEST(SampleJobStatus, AVerificationAddsUpWhatTheRuntimesFindWhileTheyRun) {
  JobModel model;
  model.job = job_of("verify");
  model.settle();
  const auto report = [&](int partition) -> api::Verification& {
    auto& found = model.report(partition).job->progress.verification;
    return found ? *found : found.emplace();
  };
  for (const int partition : {0, 1}) model.reports(partition, JobState::kRunning);
  report(0) = {.checked = 10, .compared = 9, .missing = 3};
  for (int i = 0; i < 20; ++i) {
    report(0).first_problems.push_back({.path = "m" + std::to_string(i), .problem = "missing"});
  }
  report(1) = {.checked = 10, .stale = 1};
  model.settle();
  ASSERT_TRUE(model.job.status.verification);
  EXPECT_EQ(model.job.status.verification->checked, 20);
  EXPECT_EQ(std::ranges::count(model.events, "SamplesCorrupt"), 0);

  report(1) = {.checked = 50,
               .corrupt = 2,
               .repaired = 1,
               .first_problems = {{.path = "x/1", .problem = "corrupt", .repaired = true},
                                  {.path = "x/2", .problem = "corrupt"}}};
  for (const int partition : {0, 1}) model.reports(partition, JobState::kSucceeded);
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Succeeded");
  const api::Verification& all = *model.job.status.verification;
  EXPECT_EQ(all.checked, 60);
  EXPECT_EQ(all.compared, 9);
  EXPECT_EQ(all.first_problems.size(), 20u);
  EXPECT_EQ(all.first_problems.front().path, "x/1") << "the worst first";
  EXPECT_EQ(
      model.message("Complete"),
      "60 samples checked: 2 corrupt, 3 missing; 1 repaired; the first: 'x/1' (corrupt), "
      "'x/2' (corrupt), 'm0' (missing); a job with verifyOptions.repair fetches samples again");
  EXPECT_EQ(std::ranges::count(model.events, "DoVerifyJobSuccessfully"), 1);
  EXPECT_EQ(std::ranges::count(model.events, "SamplesCorrupt"), 1);
  ASSERT_EQ(model.job.status.partitions.size(), 2u);
  EXPECT_EQ(model.job.status.partitions[1].verification->corrupt, 2);
}

TEST(SampleJobStatus, AVerificationWithoutProblemsSaysSo) {
  JobModel model;
  model.job = job_of("verify");
  model.settle();
  for (const int partition : {0, 1}) {
    model.reports(partition, JobState::kSucceeded);
    model.report(partition).job->progress.verification = api::Verification{.checked = 3};
  }
  model.settle();
  EXPECT_EQ(model.message("Complete"), "6 samples checked: all are right");
}

TEST(SampleJobStatus, AFailureNamesThePartition) {
  JobModel model;
  model.settle();
  model.reports(0, JobState::kSucceeded);
  model.reports(1, JobState::kFailed, "no such bucket");
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Failed");
  EXPECT_EQ(model.message("Failed"), "partition 1 on node1: no such bucket");
  EXPECT_EQ(model.events.back(), "ErrorDoWarmupJob");
}

TEST(SampleJobStatus, TheDurationIsThatOfTheLastProgressAndOfTheEnd) {
  JobModel model;
  model.settle();
  for (int i = 0; i < 2; ++i) {
    model.reports(i, JobState::kRunning);
    model.report(i).job->progress.bytes_total = 100;
    model.report(i).job->progress.bytes_done = 10;
  }
  model.now += std::chrono::seconds{30};
  model.settle();
  EXPECT_EQ(model.job.status.duration, "30s");
  const auto before = model.job.status;
  model.now += std::chrono::seconds{30};
  model.settle();
  EXPECT_EQ(model.job.status.duration, before.duration) << "no progress, and so no write";
  for (int i = 0; i < 2; ++i) model.reports(i, JobState::kSucceeded);
  model.now += std::chrono::seconds{210};
  model.settle();
  EXPECT_EQ(model.job.status.phase, "Succeeded");
  EXPECT_EQ(model.job.status.duration, "4m30s");
}

TEST(SampleJobStatus, EachQuarterOfTheBytesIsAnEvent) {
  JobModel model;
  model.settle();
  for (int i = 0; i < 2; ++i) {
    model.reports(i, JobState::kRunning);
    model.report(i).job->progress.bytes_total = 100;
  }
  for (const int done : {10, 30, 40, 60, 100}) {
    for (int i = 0; i < 2; ++i) model.report(i).job->progress.bytes_done = done;
    model.settle();
  }
  EXPECT_EQ(std::ranges::count(model.events, "Progress"), 2);
  for (int i = 0; i < 2; ++i) {
    model.report(i).job->progress.files_done = 600;
    model.reports(i, JobState::kSucceeded);
  }
  model.settle();
  EXPECT_EQ(model.message("Complete"), "done on all 2 partitions: 1,200 files, 200 B");
}

// Its node is gone, and no other has room for the runtime.
TEST(SampleJobStatus, AJobThatOnlyWaitsForAnAbsentRuntimeSaysSoAndBlocksNoOther) {
  using namespace std::chrono_literals;
  JobModel model;
  model.settle();
  model.reports(0, JobState::kSucceeded);
  model.reports(1, JobState::kRunning);
  model.settle();
  model.world.reports.pop_back();
  model.settle();
  EXPECT_EQ(model.reason(), "Running");
  model.now += 61s;
  model.settle();
  EXPECT_EQ(model.reason(), "WaitingForRuntimes");
  EXPECT_NE(model.message().find("partition 1"), std::string::npos) << model.message();

  JobModel next;
  next.job.meta.created = kNow + 1s;
  for (int i = 0; i < 4; ++i) {
    next.world.siblings.push_back({.name = "old-" + std::to_string(i),
                                   .kind = runtime::JobKind::kWarmup,
                                   .created = kNow,
                                   .sent = true});
  }
  next.settle();
  EXPECT_EQ(next.reason(), "Queued");
  next.world.siblings[2].stalled = true;
  next.settle();
  EXPECT_EQ(next.reason(), "Starting");
}

}  // namespace
}  // namespace paddle::controllers::sample_job
