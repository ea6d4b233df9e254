// SPDX-License-Identifier: Apache-2.0
#include "controllers/runtime_jobs/fanout.h"

#include <gtest/gtest.h>

namespace paddle::controllers::runtime_jobs {
namespace {

using namespace std::chrono_literals;
using runtime::JobState;

constexpr WallTime kNow{std::chrono::seconds(1'800'000'000)};

std::vector<PartitionReport> all_of(int count, JobState state, const std::string& cut = "x") {
  std::vector<PartitionReport> answers;
  for (int i = 0; i < count; ++i) {
    answers.push_back({.partition = i,
                       .node = "node" + std::to_string(i),
                       .job = runtime::JobReport{.id = "sync.1", .state = state, .cut = cut}});
  }
  return answers;
}

std::vector<int> followed(const std::vector<PartitionReport>& answers, WallTime now,
                          PartitionJobs& parts) {
  std::vector<int> given;
  update_partitions(answers, 3, now, parts,
                    [&](const api::JobPartition& part) { given.push_back(part.index); });
  return given;
}

TEST(Fanout, WhoHasNotHeardOfItsPartIsGivenItAndNobodyElse) {
  PartitionJobs parts = start_partitions("sync.1", {0, 1, 2});
  auto answers = all_of(3, JobState::kRunning);
  answers[1].job.reset();
  EXPECT_EQ(followed(answers, kNow, parts), std::vector<int>{1});
  EXPECT_EQ(parts[0].state, kRunning);
  EXPECT_EQ(parts[1].state, kPending);
  answers = all_of(3, JobState::kSucceeded);
  EXPECT_TRUE(followed(answers, kNow, parts).empty());
  EXPECT_TRUE(all_succeeded(parts));
  for (auto& answer : answers) answer.job.reset();  // their journals are gone
  EXPECT_TRUE(followed(answers, kNow, parts).empty());
  EXPECT_EQ(redivision_reason(parts, 3, kNow), "");
}

TEST(Fanout, ARuntimeThatStaysAwayIsWaitedForUntilTheOthersAreThroughAndAMinuteMore) {
  PartitionJobs parts = start_partitions("sync.1", {0, 1, 2});
  auto answers = all_of(3, JobState::kRunning);
  answers.pop_back();
  (void)followed(answers, kNow, parts);
  EXPECT_EQ(parts[2].message, "its runtime is away");
  (void)followed(answers, kNow + 2h, parts);
  EXPECT_EQ(redivision_reason(parts, 3, kNow + 2h), "");  // the others are at work
  for (auto& answer : answers) answer.job->state = JobState::kSucceeded;
  (void)followed(answers, kNow + 2h, parts);
  EXPECT_EQ(redivision_reason(parts, 3, kNow + 2h), "partition 2: its runtime is away");
  EXPECT_EQ(redivision_reason(parts, 3, kNow + kStallTimeout - 1s), "");
}

TEST(Fanout, OneThatComesBackGoesOnWithItsPart) {
  PartitionJobs parts = start_partitions("sync.1", {0, 1});
  auto answers = all_of(2, JobState::kRunning);
  answers[1].error = "no answer";
  (void)followed(answers, kNow, parts);
  EXPECT_EQ(parts[1].stalled_since, kNow);
  answers[1].error.clear();
  answers[1].job.reset();  // on another node
  EXPECT_EQ(followed(answers, kNow + 5s, parts), std::vector<int>{1});
  EXPECT_FALSE(parts[1].stalled_since);
}

TEST(Fanout, WithoutTheFirstNobodyCanDivideAnew) {
  PartitionJobs parts = start_partitions("sync.1", {0, 1});
  auto answers = all_of(2, JobState::kSucceeded);
  answers[0].error = "no answer";
  (void)followed(answers, kNow, parts);
  EXPECT_EQ(redivision_reason(parts, 2, kNow + 1h), "");
}

TEST(Fanout, APartThatTheFirstWillNeverSayIsDividedAnew) {
  PartitionJobs parts = start_partitions("sync.1", {0, 1});
  auto answers = all_of(2, JobState::kSucceeded);
  answers[1].job->state = JobState::kRunning;  // moved, after the first had moved too
  answers[1].job->cut.clear();
  (void)followed(answers, kNow, parts);
  EXPECT_EQ(parts[1].stalled_since, kNow);
  EXPECT_EQ(redivision_reason(parts, 2, kNow + kStallTimeout),
            "the first runtime lost how it was divided");
}

TEST(Fanout, OtherWorkThanASyncIsNeverStalledByAFirstOneThatIsThrough) {
  PartitionJobs parts = start_partitions("warmup", {0, 1});
  auto answers = all_of(2, JobState::kSucceeded, "");
  answers[1].job->state = JobState::kRunning;
  (void)followed(answers, kNow, parts);
  EXPECT_FALSE(parts[1].stalled_since);
}

TEST(Fanout, PartsOfTwoDivisionsAreNotAWhole) {
  PartitionJobs parts = start_partitions("sync.1", {0, 1});
  auto answers = all_of(2, JobState::kSucceeded);
  answers[0].job->cut = "y";
  (void)followed(answers, kNow, parts);
  EXPECT_EQ(redivision_reason(parts, 2, kNow), "the first runtime lost how it was divided");
}

TEST(Fanout, AnewItIsUnderAnotherIdAndWhatIsGivenUpIsCancelledOnce) {
  PartitionJobs parts = start_partitions("sync.1", {0, 1, 2});
  auto answers = all_of(3, JobState::kRunning);
  answers[0].job->state = JobState::kSucceeded;
  answers[2].error = "no answer";
  (void)followed(answers, kNow, parts);
  EXPECT_EQ(redivision_reason(parts, 2, kNow), "the set has fewer partitions now");
  PartitionJobs left;
  redivide(next_division_id("sync.1"), sharing_partitions(answers, 3), parts, left);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[1].id, "sync.2");
  ASSERT_EQ(left.size(), 2u);
  std::vector<int> cancelled;
  const auto cancel = [&](const api::JobPartition& part) {
    EXPECT_EQ(part.id, "sync.1");
    cancelled.push_back(part.index);
  };
  cancel_abandoned(answers, 3, left, cancel);
  EXPECT_EQ(cancelled, std::vector<int>{1});
  ASSERT_EQ(left.size(), 1u);  // until it can be told
  answers[2].error.clear();
  cancel_abandoned(answers, 3, left, cancel);
  EXPECT_EQ(cancelled, (std::vector<int>{1, 2}));
  EXPECT_TRUE(left.empty());
}

TEST(Fanout, WhatWasGivenUpByARuntimeThatIsGoneForGoodIsForgotten) {
  PartitionJobs left{{.index = 2, .id = "sync.1"}};
  cancel_abandoned({}, 2, left, [](const api::JobPartition&) { FAIL(); });
  EXPECT_TRUE(left.empty());
}

TEST(Fanout, EachIsToldItsPlaceAmongThoseWhoShare) {
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
