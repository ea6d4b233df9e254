// SPDX-License-Identifier: Apache-2.0
#include "controllers/runtime_jobs/fanout.h"

#include <gtest/gtest.h>

namespace paddle::controllers::runtime_jobs {
namespace {

using namespace std::chrono_literals;
using runtime::JobState;

constexpr WallTime kNow{std::chrono::seconds(1'800'000'000)};

std::vector<PartitionReport> all_of(int count, JobState state, const std::string& cut = "x") {
  std::vector<PartitionReport> reports;
  for (int i = 0; i < count; ++i) {
    reports.push_back(
        {.partition = i,
         .node = "node" + std::to_string(i),
         .job = runtime::JobReport{.id = "sync.1", .state = state, .progress = {.cut = cut}}});
  }
  return reports;
}

std::vector<int> sent_parts(const std::vector<PartitionReport>& reports, WallTime now,
                            PartitionJobs& parts) {
  std::vector<int> sent;
  update_partitions(reports, 3, now, parts,
                    [&](const api::JobPartition& part) { sent.push_back(part.index); });
  return sent;
}

TEST(Fanout, SendsAPartOnlyToARuntimeThatDoesNotKnowIt) {
  PartitionJobs parts = start_partitions("sync.1", {0, 1, 2});
  auto reports = all_of(3, JobState::kRunning);
  reports[1].job.reset();
  EXPECT_EQ(sent_parts(reports, kNow, parts), std::vector<int>{1});
  EXPECT_EQ(parts[0].state, kRunning);
  EXPECT_EQ(parts[1].state, kPending);
  reports = all_of(3, JobState::kSucceeded);
  EXPECT_TRUE(sent_parts(reports, kNow, parts).empty());
  EXPECT_TRUE(all_succeeded(parts));
  for (auto& report : reports) report.job.reset();  // their journals are gone
  EXPECT_TRUE(sent_parts(reports, kNow, parts).empty());
  EXPECT_EQ(redivision_reason(parts, 3, kNow), "");
}

TEST(Fanout, WaitsForAnAbsentRuntimeUntilTheOthersAreDoneAndAMinuteHasPassed) {
  PartitionJobs parts = start_partitions("sync.1", {0, 1, 2});
  auto reports = all_of(3, JobState::kRunning);
  reports.pop_back();
  (void)sent_parts(reports, kNow, parts);
  EXPECT_EQ(parts[2].message, "its runtime is away");
  (void)sent_parts(reports, kNow + 2h, parts);
  EXPECT_EQ(redivision_reason(parts, 3, kNow + 2h), "");  // the others are at work
  for (auto& report : reports) report.job->state = JobState::kSucceeded;
  (void)sent_parts(reports, kNow + 2h, parts);
  EXPECT_EQ(redivision_reason(parts, 3, kNow + 2h), "partition 2: its runtime is away");
  EXPECT_EQ(redivision_reason(parts, 3, kNow + kStallTimeout - 1s), "");
}

TEST(Fanout, ARuntimeThatComesBackContinuesItsPart) {
  PartitionJobs parts = start_partitions("sync.1", {0, 1});
  auto reports = all_of(2, JobState::kRunning);
  reports[1].error = "no report";
  (void)sent_parts(reports, kNow, parts);
  EXPECT_EQ(parts[1].stalled_since, kNow);
  reports[1].error.clear();
  reports[1].job.reset();  // on another node
  EXPECT_EQ(sent_parts(reports, kNow + 5s, parts), std::vector<int>{1});
  EXPECT_FALSE(parts[1].stalled_since);
}

TEST(Fanout, DoesNotDivideAgainWithoutTheFirstRuntime) {
  PartitionJobs parts = start_partitions("sync.1", {0, 1});
  auto reports = all_of(2, JobState::kSucceeded);
  reports[0].error = "no report";
  (void)sent_parts(reports, kNow, parts);
  EXPECT_EQ(redivision_reason(parts, 2, kNow + 1h), "");
}

TEST(Fanout, DividesAgainWhenTheFirstRuntimeHasLostTheDivision) {
  PartitionJobs parts = start_partitions("sync.1", {0, 1});
  auto reports = all_of(2, JobState::kSucceeded);
  reports[1].job->state = JobState::kRunning;  // moved, after the first had moved too
  reports[1].job->progress.cut.clear();
  (void)sent_parts(reports, kNow, parts);
  EXPECT_EQ(parts[1].stalled_since, kNow);
  EXPECT_EQ(redivision_reason(parts, 2, kNow + kStallTimeout),
            "the first runtime has lost the division");
}

TEST(Fanout, OtherJobsThanASyncAreNotStalledWhenTheFirstRuntimeIsDone) {
  PartitionJobs parts = start_partitions("warmup", {0, 1});
  auto reports = all_of(2, JobState::kSucceeded, "");
  reports[1].job->state = JobState::kRunning;
  (void)sent_parts(reports, kNow, parts);
  EXPECT_FALSE(parts[1].stalled_since);
}

TEST(Fanout, PartsOfTwoDivisionsAreNotACompleteSync) {
  PartitionJobs parts = start_partitions("sync.1", {0, 1});
  auto reports = all_of(2, JobState::kSucceeded);
  reports[0].job->progress.cut = "y";
  (void)sent_parts(reports, kNow, parts);
  EXPECT_EQ(redivision_reason(parts, 2, kNow), "the first runtime has lost the division");
}

TEST(Fanout, ANewDivisionHasAnotherIdAndCancelsAbandonedPartsOnce) {
  PartitionJobs parts = start_partitions("sync.1", {0, 1, 2});
  auto reports = all_of(3, JobState::kRunning);
  reports[0].job->state = JobState::kSucceeded;
  reports[2].error = "no report";
  (void)sent_parts(reports, kNow, parts);
  EXPECT_EQ(redivision_reason(parts, 2, kNow), "the set has fewer partitions now");
  PartitionJobs left;
  redivide(next_division_id("sync.1"), sharing_partitions(reports, 3), parts, left);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[1].id, "sync.2");
  ASSERT_EQ(left.size(), 2u);
  std::vector<int> cancelled;
  const auto cancel = [&](const api::JobPartition& part) {
    EXPECT_EQ(part.id, "sync.1");
    cancelled.push_back(part.index);
  };
  cancel_abandoned(reports, 3, left, cancel);
  EXPECT_EQ(cancelled, std::vector<int>{1});
  ASSERT_EQ(left.size(), 1u);  // until its runtime is reachable
  reports[2].error.clear();
  cancel_abandoned(reports, 3, left, cancel);
  EXPECT_EQ(cancelled, (std::vector<int>{1, 2}));
  EXPECT_TRUE(left.empty());
}

TEST(Fanout, ForgetsAbandonedPartsOfPartitionsThatNoLongerExist) {
  PartitionJobs left{{.index = 2, .id = "sync.1"}};
  cancel_abandoned({}, 2, left, [](const api::JobPartition&) { FAIL(); });
  EXPECT_TRUE(left.empty());
}

TEST(Fanout, EachRequestSaysWhichPartOfHowManyItIs) {
  const PartitionJobs parts = start_partitions("sync.1", {0, 2});
  runtime::JobRequest request;
  describe_part(parts[1], parts, "first:7716", request);
  EXPECT_EQ(request.sync.part, 1);
  EXPECT_EQ(request.sync.parts, 2);
  EXPECT_EQ(request.sync.lists_at, "first:7716");
  const PartitionJobs alone = start_partitions("sync.1", {0});
  runtime::JobRequest whole;
  describe_part(alone[0], alone, "first:7716", whole);
  EXPECT_EQ(whole, runtime::JobRequest{});
}

}  // namespace
}  // namespace paddle::controllers::runtime_jobs
