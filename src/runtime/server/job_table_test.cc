// SPDX-License-Identifier: Apache-2.0
#include "runtime/server/job_table.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace paddle::runtime {
namespace {

const JobRequest kSync{.kind = JobKind::kSync};
const JobRequest kWarmup{.kind = JobKind::kWarmup};
constexpr Done kDone{};

TEST(JobTable, TheSameJobUnderTheSameIdIsOneJob) {
  JobTable book;
  EXPECT_EQ(book.put("a", kSync)->report.state, JobState::kQueued);
  ASSERT_TRUE(book.start(JobKind::kSync));
  EXPECT_EQ(book.put("a", kSync)->report.state, JobState::kRunning);
  book.finish("a", kDone);
  EXPECT_EQ(book.put("a", kSync)->report.state, JobState::kSucceeded);
  EXPECT_FALSE(book.start(JobKind::kSync)) << "a finished job does not run again";
}

TEST(JobTable, RemembersWhichOfAKindSucceededLast) {
  JobTable book;
  EXPECT_EQ(book.latest_success(JobKind::kSync), "");
  for (const char* id : {"z", "a", "m"}) {
    ASSERT_TRUE(book.put(id, kSync));
    ASSERT_TRUE(book.start(JobKind::kSync));
    book.finish(id, id == std::string("m") ? Result<>(Error{Code::kUnavailable, "no"}) : kDone);
  }
  EXPECT_EQ(book.latest_success(JobKind::kSync), "a");
  EXPECT_EQ(book.latest_success(JobKind::kWarmup), "");
}

TEST(JobTable, TellsOfTheWarmUpThatCameLast) {
  const JobRequest warm_up{.kind = JobKind::kWarmup};
  const JobRequest clear{.kind = JobKind::kClear};
  JobTable book;
  ASSERT_TRUE(book.put("sync", kSync));
  EXPECT_EQ(book.last_warm_up(), std::nullopt);
  ASSERT_TRUE(book.put("z", warm_up));
  ASSERT_TRUE(book.start(JobKind::kWarmup));
  book.update_progress("z", {.files_no_room = 3});
  EXPECT_EQ(book.last_warm_up(), (LastWarmUp{.ended = false, .files_no_room = 3}));
  book.finish("z", kDone);
  EXPECT_EQ(book.last_warm_up(), (LastWarmUp{.ended = true, .files_no_room = 3}));
  ASSERT_TRUE(book.put("clear", clear));
  EXPECT_EQ(book.last_warm_up(),
            (LastWarmUp{.ended = true, .files_no_room = 3, .cleared_since = true}));
  ASSERT_TRUE(book.put("a", warm_up));
  EXPECT_EQ(book.last_warm_up(), LastWarmUp{}) << "one that waits is to come";
}

TEST(JobTable, APartOfASyncIsNoSyncThatSucceeded) {
  JobTable book;
  JobRequest part = kSync;
  part.sync.parts = 2;
  for (const auto& [id, request] : {std::pair{"whole", kSync}, std::pair{"part", part}}) {
    ASSERT_TRUE(book.put(id, request));
    ASSERT_TRUE(book.start(JobKind::kSync));
    book.update_progress(id, {.cut = "c"});
    book.finish(id, kDone);
  }
  EXPECT_EQ(book.latest_success(JobKind::kSync), "whole");
  EXPECT_EQ(book.find("part")->report.progress.cut, "c");
}

TEST(JobTable, ASyncThatOnlySaysWhatItWouldDoIsNoSyncThatSucceeded) {
  JobTable book;
  JobRequest dry = kSync;
  dry.sync.dry = true;
  for (const auto& [id, request] : {std::pair{"real", kSync}, std::pair{"dry", dry}}) {
    ASSERT_TRUE(book.put(id, request));
    ASSERT_TRUE(book.start(JobKind::kSync));
    book.finish(id, kDone);
  }
  EXPECT_EQ(book.latest_success(JobKind::kSync), "real");
}

TEST(JobTable, WhatIsWithdrawnWasNeverThere) {
  JobTable book;
  ASSERT_TRUE(book.put("a", kSync));
  book.withdraw("a");
  EXPECT_EQ(book.find("a"), nullptr);
  EXPECT_FALSE(book.start(JobKind::kSync));
  EXPECT_EQ(book.put("a", kWarmup)->report.state, JobState::kQueued);
}

TEST(JobTable, AJobThatIsAskedForAgainIsTheSameJob) {
  JobTable book;
  JobRequest request{.kind = JobKind::kRemove, .which = {.paths = {"x"}}};
  ASSERT_TRUE(book.put("r", request));
  request.which.again = true;
  ASSERT_TRUE(book.put("r", request));
  EXPECT_FALSE(book.start(JobKind::kRemove)->request.which.again) << "as it was accepted";
  request.which.paths = {"y"};
  EXPECT_TRUE(book.put("r", request).is(Code::kConflict));
}

TEST(JobTable, KnowsWhetherTheCacheWasClearedAfterAJob) {
  JobTable book;
  ASSERT_TRUE(book.put("clear-1", {.kind = JobKind::kClear}));
  ASSERT_TRUE(book.put("warm", kWarmup));
  ASSERT_TRUE(book.put("sync", kSync));
  EXPECT_FALSE(book.cleared_since(*book.find("warm")));
  ASSERT_TRUE(book.put("clear-2", {.kind = JobKind::kClear}));
  EXPECT_TRUE(book.cleared_since(*book.find("warm")));
  book.cancel("clear-2");  // it may have begun
  EXPECT_TRUE(book.cleared_since(*book.find("warm")));
  EXPECT_FALSE(book.cleared_since(*book.find("clear-2")));
}

TEST(JobTable, AnotherJobUnderAKnownIdIsAConflict) {
  JobTable book;
  ASSERT_TRUE(book.put("a", kSync));
  EXPECT_TRUE(book.put("a", kWarmup).is(Code::kConflict));
  EXPECT_EQ(book.all().size(), 1u);
}

TEST(JobTable, KindsDoNotBlockEachOtherAndOneKindRunsInOrder) {
  JobTable book;
  for (const char* id : {"z", "y", "x"}) ASSERT_TRUE(book.put(id, kSync));
  ASSERT_TRUE(book.put("w", kWarmup));
  EXPECT_EQ(book.start(JobKind::kSync)->report.id, "z");
  EXPECT_FALSE(book.start(JobKind::kSync));
  EXPECT_EQ(book.start(JobKind::kWarmup)->report.id, "w");
  book.finish("z", Error{Code::kUnavailable, "no such host"});
  EXPECT_EQ(book.start(JobKind::kSync)->report.id, "y");
  EXPECT_EQ(book.find("z")->report.state, JobState::kFailed);
  EXPECT_EQ(book.find("z")->report.error, "no such host");
}

TEST(JobTable, ChangesRunInTheOrderTheyCameWhereThatIsWanted) {
  const JobRequest remove{.kind = JobKind::kRemove};
  JobTable book(/*changes_in_order=*/true);
  ASSERT_TRUE(book.put("z", kSync));
  ASSERT_TRUE(book.put("r", remove));
  ASSERT_TRUE(book.put("a", kSync));
  ASSERT_TRUE(book.put("w", kWarmup));
  EXPECT_FALSE(book.start(JobKind::kRemove)) << "z came first";
  EXPECT_EQ(book.start(JobKind::kWarmup)->report.id, "w");
  EXPECT_EQ(book.start(JobKind::kSync)->report.id, "z");
  EXPECT_FALSE(book.start(JobKind::kRemove));
  book.finish("z", kDone);
  EXPECT_FALSE(book.start(JobKind::kSync)) << "r came before a";
  EXPECT_EQ(book.start(JobKind::kRemove)->report.id, "r");
  book.finish("r", kDone);
  EXPECT_EQ(book.start(JobKind::kSync)->report.id, "a");
}

TEST(JobTable, ProgressIsOfRunningJobsOnly) {
  JobTable book;
  ASSERT_TRUE(book.put("a", kSync));
  book.update_progress("a", {.files_done = 7});
  book.update_progress("nobody", {.files_done = 7});
  EXPECT_EQ(book.find("a")->report.progress.files_done, 0);
  book.start(JobKind::kSync);
  book.update_progress("a", {.files_done = 7, .bytes_per_second = 3, .seconds_left = 9});
  EXPECT_EQ(book.find("a")->report.progress.files_done, 7);
  EXPECT_EQ(book.find("a")->report.progress.seconds_left, 9);
  book.finish("a", kDone);
  EXPECT_EQ(book.find("a")->report.progress.files_done, 7);
  EXPECT_FALSE(book.find("a")->report.progress.seconds_left);
}

TEST(JobTable, CancelEndsWhatWaitsAndPointsAtWhatRuns) {
  JobTable book;
  ASSERT_TRUE(book.put("a", kSync));
  ASSERT_TRUE(book.put("b", kSync));
  book.start(JobKind::kSync);
  EXPECT_TRUE(book.cancel("a").running);
  const auto b = book.cancel("b");
  EXPECT_FALSE(b.running);
  EXPECT_EQ(b.job->report.state, JobState::kCancelled);
  book.finish("a", Error{Code::kCancelled, "stopped"});
  EXPECT_EQ(book.find("a")->report.state, JobState::kCancelled);
  EXPECT_FALSE(book.cancel("a").job) << "what has ended stays as it is";
  EXPECT_FALSE(book.cancel("nobody").job);
  EXPECT_FALSE(book.start(JobKind::kSync));
}

TEST(JobTable, ARestartQueuesWhatWasRunningAndKeepsTheOrder) {
  JobTable book;
  book.restore(
      {{.number = 5, .request = kSync, .report = {.id = "late"}},
       {.number = 3,
        .request = kSync,
        .report = {.id = "early", .state = JobState::kRunning, .progress = {.files_done = 4}}},
       {.number = 1,
        .request = kWarmup,
        .report = {.id = "done", .kind = JobKind::kWarmup, .state = JobState::kFailed}}});
  EXPECT_EQ(book.find("early")->report.progress.files_done, 0);
  EXPECT_EQ(book.start(JobKind::kSync)->report.id, "early");
  EXPECT_FALSE(book.start(JobKind::kWarmup));
  EXPECT_GT(book.put("new", kWarmup)->number, 5u);
}

TEST(JobTable, WhatWasFoundRunningRunsAgainAndKnowsIt) {
  const JobRequest removal{.kind = JobKind::kRemove, .which = {.paths = {"x"}}};
  const auto found = [&](const std::string& id, JobState state, std::uint64_t number) {
    return Job{.number = number,
               .request = removal,
               .report = {.id = id, .kind = JobKind::kRemove, .state = state}};
  };
  JobTable book;
  book.restore({found("ran", JobState::kRunning, 1), found("waited", JobState::kQueued, 2)});
  ASSERT_TRUE(book.put("ran", removal)) << "the same job to whoever asked for it";
  EXPECT_TRUE(book.start(JobKind::kRemove)->request.which.again);
  book.finish("ran", kDone);
  EXPECT_FALSE(book.start(JobKind::kRemove)->request.which.again);
}

TEST(JobTable, WhatWasCancelledWhileItRanIsNotRunAgain) {
  JobTable book;
  ASSERT_TRUE(book.put("a", kSync));
  book.start(JobKind::kSync);
  ASSERT_TRUE(book.cancel("a").running);
  const Job written = *book.find("a");
  EXPECT_TRUE(written.cancelled);
  EXPECT_EQ(written.report.state, JobState::kRunning) << "until it has stopped";

  JobTable next;
  next.restore({written});
  EXPECT_EQ(next.find("a")->report.state, JobState::kCancelled);
  EXPECT_FALSE(next.start(JobKind::kSync));
}

TEST(JobTable, ForgetsTheOldestThatEnded) {
  JobTable book;
  for (std::size_t i = 0; i < JobTable::kKept + 5; ++i) {
    ASSERT_TRUE(book.put(std::to_string(i), kSync));
    book.start(JobKind::kSync);
    book.finish(std::to_string(i), kDone);
  }
  EXPECT_EQ(book.all().size(), JobTable::kKept);
  EXPECT_EQ(book.forgotten(), (std::vector<std::string>{"0", "1", "2", "3", "4"}));
  EXPECT_TRUE(book.forgotten().empty());
  EXPECT_EQ(book.find("0"), nullptr);
}

TEST(JobTable, ManyOfAKindMakeNoOtherKindForgotten) {
  JobTable book;
  const auto done = [&](const std::string& id, const JobRequest& request) {
    ASSERT_TRUE(book.put(id, request));
    book.start(request.kind);
    book.finish(id, kDone);
  };
  done("sync", kSync);
  for (std::size_t i = 0; i < JobTable::kKept + 5; ++i) {
    done(std::to_string(i), {.kind = JobKind::kClear});
  }
  EXPECT_NE(book.find("sync"), nullptr);
  EXPECT_EQ(book.all().size(), JobTable::kKept + 1);
  EXPECT_EQ(book.forgotten().size(), 5U);
}

TEST(JobTable, WaitingJobsAreBounded) {
  JobTable book;
  for (std::size_t i = 0; i < JobTable::kWaiting; ++i) {
    ASSERT_TRUE(book.put(std::to_string(i), kSync));
  }
  EXPECT_TRUE(book.put("one more", kSync).is(Code::kThrottled));
  EXPECT_TRUE(book.put("1", kSync)) << "a known one is no new one";
}

TEST(JobTable, OnRandomHistoriesOneOfAKindRunsAndEveryJobEndsOnce) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    JobTable book;
    std::map<JobKind, std::string> running;
    int put = 0, finished = 0;
    for (int step = 0; step < 300; ++step) {
      const auto kind = api::kJobKinds[random.below(api::kJobKinds.size())];
      switch (random.below(4)) {
        case 0:
          if (book.put("j" + std::to_string(put), {.kind = kind})) ++put;
          break;
        case 1:
          if (const auto job = book.start(kind)) {
            ASSERT_FALSE(running.contains(kind));
            running[kind] = job->report.id;
          }
          break;
        case 2:
          if (running.contains(kind)) {
            ASSERT_TRUE(book.finish(running[kind], kDone));
            ASSERT_FALSE(book.finish(running[kind], kDone));
            running.erase(kind);
            ++finished;
          }
          break;
        default:
          if (put > 0 &&
              book.cancel("j" + std::to_string(random.below(static_cast<std::uint64_t>(put))))
                  .job) {
            ++finished;
          }
      }
    }
    int open = 0;
    for (const auto& report : book.all()) open += ended(report.state) ? 0 : 1;
    EXPECT_EQ(put, finished + open);
  }
}

}  // namespace
}  // namespace paddle::runtime
