// SPDX-License-Identifier: Apache-2.0
#include "runtime/server/job_table.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace paddle::runtime {
namespace {

const JobRequest kSync{.kind = JobKind::kSync};
const JobRequest kWarmup{.kind = JobKind::kWarmup};
constexpr Done kDone{};

TEST(JobTable, TheSameRequestWithTheSameIdIsOneJob) {
  JobTable table;
  EXPECT_EQ(table.put("a", kSync)->report.state, JobState::kQueued);
  ASSERT_TRUE(table.start(JobKind::kSync));
  EXPECT_EQ(table.put("a", kSync)->report.state, JobState::kRunning);
  table.finish("a", kDone);
  EXPECT_EQ(table.put("a", kSync)->report.state, JobState::kSucceeded);
  EXPECT_FALSE(table.start(JobKind::kSync)) << "a finished job does not run again";
}

TEST(JobTable, RemembersTheLatestSuccessOfAKind) {
  JobTable table;
  EXPECT_EQ(table.latest_success(JobKind::kSync), "");
  for (const char* id : {"z", "a", "m"}) {
    ASSERT_TRUE(table.put(id, kSync));
    ASSERT_TRUE(table.start(JobKind::kSync));
    table.finish(id, id == std::string("m") ? Result<>(Error{Code::kUnavailable, "no"}) : kDone);
  }
  EXPECT_EQ(table.latest_success(JobKind::kSync), "a");
  EXPECT_EQ(table.latest_success(JobKind::kWarmup), "");
}

TEST(JobTable, ReportsTheLatestWarmUp) {
  const JobRequest warm_up{.kind = JobKind::kWarmup};
  const JobRequest clear{.kind = JobKind::kClear};
  JobTable table;
  ASSERT_TRUE(table.put("sync", kSync));
  EXPECT_EQ(table.last_warm_up(), std::nullopt);
  ASSERT_TRUE(table.put("z", warm_up));
  ASSERT_TRUE(table.start(JobKind::kWarmup));
  table.update_progress("z", {.files_no_room = 3});
  EXPECT_EQ(table.last_warm_up(), (LastWarmUp{.ended = false, .files_no_room = 3}));
  table.finish("z", kDone);
  EXPECT_EQ(table.last_warm_up(), (LastWarmUp{.ended = true, .files_no_room = 3}));
  ASSERT_TRUE(table.put("clear", clear));
  EXPECT_EQ(table.last_warm_up(),
            (LastWarmUp{.ended = true, .files_no_room = 3, .cleared_since = true}));
  ASSERT_TRUE(table.put("a", warm_up));
  EXPECT_EQ(table.last_warm_up(), LastWarmUp{}) << "one that waits is to come";
}

TEST(JobTable, APartOfASyncIsNotTheLatestSuccess) {
  JobTable table;
  JobRequest part = kSync;
  part.sync.parts = 2;
  for (const auto& [id, request] : {std::pair{"whole", kSync}, std::pair{"part", part}}) {
    ASSERT_TRUE(table.put(id, request));
    ASSERT_TRUE(table.start(JobKind::kSync));
    table.update_progress(id, {.cut = "c"});
    table.finish(id, kDone);
  }
  EXPECT_EQ(table.latest_success(JobKind::kSync), "whole");
  EXPECT_EQ(table.find("part")->report.progress.cut, "c");
}

TEST(JobTable, ADryRunIsNotTheLatestSuccess) {
  JobTable table;
  JobRequest dry = kSync;
  dry.sync.dry = true;
  for (const auto& [id, request] : {std::pair{"real", kSync}, std::pair{"dry", dry}}) {
    ASSERT_TRUE(table.put(id, request));
    ASSERT_TRUE(table.start(JobKind::kSync));
    table.finish(id, kDone);
  }
  EXPECT_EQ(table.latest_success(JobKind::kSync), "real");
}

TEST(JobTable, AWithdrawnJobIsForgotten) {
  JobTable table;
  ASSERT_TRUE(table.put("a", kSync));
  table.withdraw("a");
  EXPECT_EQ(table.find("a"), nullptr);
  EXPECT_FALSE(table.start(JobKind::kSync));
  EXPECT_EQ(table.put("a", kWarmup)->report.state, JobState::kQueued);
}

TEST(JobTable, ARepeatedRemovalIsTheSameJob) {
  JobTable table;
  JobRequest request{.kind = JobKind::kRemove, .which = {.paths = {"x"}}};
  ASSERT_TRUE(table.put("r", request));
  request.which.again = true;
  ASSERT_TRUE(table.put("r", request));
  EXPECT_FALSE(table.start(JobKind::kRemove)->request.which.again) << "as it was accepted";
  request.which.paths = {"y"};
  EXPECT_TRUE(table.put("r", request).is(Code::kConflict));
}

TEST(JobTable, KnowsWhetherTheCacheWasClearedAfterAJob) {
  JobTable table;
  ASSERT_TRUE(table.put("clear-1", {.kind = JobKind::kClear}));
  ASSERT_TRUE(table.put("warm", kWarmup));
  ASSERT_TRUE(table.put("sync", kSync));
  EXPECT_FALSE(table.cleared_since(*table.find("warm")));
  ASSERT_TRUE(table.put("clear-2", {.kind = JobKind::kClear}));
  EXPECT_TRUE(table.cleared_since(*table.find("warm")));
  table.cancel("clear-2");  // it may have begun
  EXPECT_TRUE(table.cleared_since(*table.find("warm")));
  EXPECT_FALSE(table.cleared_since(*table.find("clear-2")));
}

TEST(JobTable, AnotherRequestWithAKnownIdIsAConflict) {
  JobTable table;
  ASSERT_TRUE(table.put("a", kSync));
  EXPECT_TRUE(table.put("a", kWarmup).is(Code::kConflict));
  EXPECT_EQ(table.all().size(), 1u);
}

TEST(JobTable, KindsDoNotBlockEachOtherAndOneKindRunsInOrder) {
  JobTable table;
  for (const char* id : {"z", "y", "x"}) ASSERT_TRUE(table.put(id, kSync));
  ASSERT_TRUE(table.put("w", kWarmup));
  EXPECT_EQ(table.start(JobKind::kSync)->report.id, "z");
  EXPECT_FALSE(table.start(JobKind::kSync));
  EXPECT_EQ(table.start(JobKind::kWarmup)->report.id, "w");
  table.finish("z", Error{Code::kUnavailable, "no such host"});
  EXPECT_EQ(table.start(JobKind::kSync)->report.id, "y");
  EXPECT_EQ(table.find("z")->report.state, JobState::kFailed);
  EXPECT_EQ(table.find("z")->report.error, "no such host");
}

TEST(JobTable, ChangesOfTheSetRunInTheOrderOfArrival) {
  const JobRequest remove{.kind = JobKind::kRemove};
  JobTable table;
  ASSERT_TRUE(table.put("z", kSync));
  ASSERT_TRUE(table.put("r", remove));
  ASSERT_TRUE(table.put("a", kSync));
  ASSERT_TRUE(table.put("w", kWarmup));
  EXPECT_FALSE(table.start(JobKind::kRemove)) << "z came first";
  EXPECT_EQ(table.start(JobKind::kWarmup)->report.id, "w");
  EXPECT_EQ(table.start(JobKind::kSync)->report.id, "z");
  EXPECT_FALSE(table.start(JobKind::kRemove));
  table.finish("z", kDone);
  EXPECT_FALSE(table.start(JobKind::kSync)) << "r came before a";
  EXPECT_EQ(table.start(JobKind::kRemove)->report.id, "r");
  table.finish("r", kDone);
  EXPECT_EQ(table.start(JobKind::kSync)->report.id, "a");
}

TEST(JobTable, OnlyRunningJobsHaveProgress) {
  JobTable table;
  ASSERT_TRUE(table.put("a", kSync));
  table.update_progress("a", {.files_done = 7});
  table.update_progress("unknown", {.files_done = 7});
  EXPECT_EQ(table.find("a")->report.progress.files_done, 0);
  table.start(JobKind::kSync);
  table.update_progress("a", {.files_done = 7, .bytes_per_second = 3, .seconds_left = 9});
  EXPECT_EQ(table.find("a")->report.progress.files_done, 7);
  EXPECT_EQ(table.find("a")->report.progress.seconds_left, 9);
  table.finish("a", kDone);
  EXPECT_EQ(table.find("a")->report.progress.files_done, 7);
  EXPECT_FALSE(table.find("a")->report.progress.seconds_left);
}

TEST(JobTable, CancelEndsQueuedJobsAndMarksRunningOnes) {
  JobTable table;
  ASSERT_TRUE(table.put("a", kSync));
  ASSERT_TRUE(table.put("b", kSync));
  table.start(JobKind::kSync);
  EXPECT_TRUE(table.cancel("a").running);
  const auto b = table.cancel("b");
  EXPECT_FALSE(b.running);
  EXPECT_EQ(b.job->report.state, JobState::kCancelled);
  table.finish("a", Error{Code::kCancelled, "stopped"});
  EXPECT_EQ(table.find("a")->report.state, JobState::kCancelled);
  EXPECT_FALSE(table.cancel("a").job) << "what has ended stays as it is";
  EXPECT_FALSE(table.cancel("unknown").job);
  EXPECT_FALSE(table.start(JobKind::kSync));
}

TEST(JobTable, ARestartQueuesRunningJobsAgainInTheirOrder) {
  JobTable table;
  table.restore(
      {{.number = 5, .request = kSync, .report = {.id = "late"}},
       {.number = 3,
        .request = kSync,
        .report = {.id = "early", .state = JobState::kRunning, .progress = {.files_done = 4}}},
       {.number = 1,
        .request = kWarmup,
        .report = {.id = "done", .kind = JobKind::kWarmup, .state = JobState::kFailed}}});
  EXPECT_EQ(table.find("early")->report.progress.files_done, 0);
  EXPECT_EQ(table.start(JobKind::kSync)->report.id, "early");
  EXPECT_FALSE(table.start(JobKind::kWarmup));
  EXPECT_GT(table.put("new", kWarmup)->number, 5u);
}

TEST(JobTable, AJobThatRunsAgainAfterARestartIsMarked) {
  const JobRequest removal{.kind = JobKind::kRemove, .which = {.paths = {"x"}}};
  const auto found = [&](const std::string& id, JobState state, std::uint64_t number) {
    return Job{.number = number,
               .request = removal,
               .report = {.id = id, .kind = JobKind::kRemove, .state = state}};
  };
  JobTable table;
  table.restore({found("ran", JobState::kRunning, 1), found("waited", JobState::kQueued, 2)});
  ASSERT_TRUE(table.put("ran", removal)) << "the same job for its caller";
  EXPECT_TRUE(table.start(JobKind::kRemove)->request.which.again);
  table.finish("ran", kDone);
  EXPECT_FALSE(table.start(JobKind::kRemove)->request.which.again);
}

TEST(JobTable, AJobCancelledWhileRunningIsNotRunAgain) {
  JobTable table;
  ASSERT_TRUE(table.put("a", kSync));
  table.start(JobKind::kSync);
  ASSERT_TRUE(table.cancel("a").running);
  const Job written = *table.find("a");
  EXPECT_TRUE(written.cancelled);
  EXPECT_EQ(written.report.state, JobState::kRunning) << "until it has stopped";

  JobTable next;
  next.restore({written});
  EXPECT_EQ(next.find("a")->report.state, JobState::kCancelled);
  EXPECT_FALSE(next.start(JobKind::kSync));
}

TEST(JobTable, ForgetsTheOldestFinishedJobs) {
  JobTable table;
  for (std::size_t i = 0; i < JobTable::kKept + 5; ++i) {
    ASSERT_TRUE(table.put(std::to_string(i), kSync));
    table.start(JobKind::kSync);
    table.finish(std::to_string(i), kDone);
  }
  EXPECT_EQ(table.all().size(), JobTable::kKept);
  EXPECT_EQ(table.forgotten(), (std::vector<std::string>{"0", "1", "2", "3", "4"}));
  EXPECT_TRUE(table.forgotten().empty());
  EXPECT_EQ(table.find("0"), nullptr);
}

TEST(JobTable, ManyJobsOfOneKindDoNotDisplaceOtherKinds) {
  JobTable table;
  const auto done = [&](const std::string& id, const JobRequest& request) {
    ASSERT_TRUE(table.put(id, request));
    table.start(request.kind);
    table.finish(id, kDone);
  };
  done("sync", kSync);
  for (std::size_t i = 0; i < JobTable::kKept + 5; ++i) {
    done(std::to_string(i), {.kind = JobKind::kClear});
  }
  EXPECT_NE(table.find("sync"), nullptr);
  EXPECT_EQ(table.all().size(), JobTable::kKept + 1);
  EXPECT_EQ(table.forgotten().size(), 5U);
}

TEST(JobTable, TheNumberOfUnfinishedJobsIsLimited) {
  JobTable table;
  for (std::size_t i = 0; i < JobTable::kWaiting; ++i) {
    ASSERT_TRUE(table.put(std::to_string(i), kSync));
  }
  EXPECT_TRUE(table.put("one more", kSync).is(Code::kThrottled));
  EXPECT_TRUE(table.put("1", kSync)) << "a known one is no new one";
}

TEST(JobTable, RunsOneJobOfAKindAndEndsEachOnceInRandomHistories) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    JobTable table;
    std::map<JobKind, std::string> running;
    int put = 0, finished = 0;
    for (int step = 0; step < 300; ++step) {
      const auto kind = api::kJobKinds[random.below(api::kJobKinds.size())];
      switch (random.below(4)) {
        case 0:
          if (table.put("j" + std::to_string(put), {.kind = kind})) ++put;
          break;
        case 1:
          if (const auto job = table.start(kind)) {
            ASSERT_FALSE(running.contains(kind));
            running[kind] = job->report.id;
          }
          break;
        case 2:
          if (running.contains(kind)) {
            ASSERT_TRUE(table.finish(running[kind], kDone));
            ASSERT_FALSE(table.finish(running[kind], kDone));
            running.erase(kind);
            ++finished;
          }
          break;
        default:
          if (put > 0 &&
              table.cancel("j" + std::to_string(random.below(static_cast<std::uint64_t>(put))))
                  .job) {
            ++finished;
          }
      }
    }
    int open = 0;
    for (const auto& report : table.all()) open += ended(report.state) ? 0 : 1;
    EXPECT_EQ(put, finished + open);
  }
}

TEST(JobTable, AnErrorIsCutBetweenCharacters) {
  JobTable table;
  ASSERT_TRUE(table.put("a", {.kind = JobKind::kSync}));
  ASSERT_TRUE(table.start(JobKind::kSync));
  std::string text(kLongestJobError - 1, 'x');
  for (int i = 0; i < 1000; ++i) text += "\u00e9";
  const auto job = table.finish("a", Error{Code::kUnavailable, text});
  ASSERT_TRUE(job);
  EXPECT_EQ(job->report.error, text.substr(0, kLongestJobError - 1));
}

}  // namespace
}  // namespace paddle::runtime
