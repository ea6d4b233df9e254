// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/decide/schedule.h"

#include <gtest/gtest.h>

namespace paddle::controllers::sample_job {
namespace {

using namespace std::chrono_literals;

WallTime at(const std::string& text) { return *parse_rfc3339("2026-11-16T" + text + ":00Z"); }

// Plays the API server; runs end when told to.
struct Model {
  api::SampleJob job{};
  World world{};
  WallTime now = at("06:30");
  std::vector<std::string> made{};  // when they were due
  std::vector<std::string> told{};

  Model() {
    job.meta.key = {"ns", "nightly"};
    job.meta.uid = "0f5e2f6c-1111-2222-3333-444455556666";
    job.meta.created = at("06:10");
    job.meta.generation = 1;
    job.spec.type = "sync";
    job.spec.sample_set = api::LocalReference{.name = "imagenet"};
    job.spec.schedule = "@hourly";
    job.spec.backoff_limit = 2;
  }
  Plan pass() {
    const Plan plan = desired_schedule(job, world, now);
    for (const Action& action : plan.actions) {
      if (const auto* create = std::get_if<CreateRun>(&action)) {
        made.push_back(
            create->run.meta.annotations.at("batch.paddlepaddle.org/scheduled-at").substr(11, 5));
        world.runs.push_back(create->run);
        world.runs.back().meta.uid = "uid-" + std::to_string(made.size());
      }
      if (const auto* gone = std::get_if<DeleteRun>(&action)) {
        std::erase_if(world.runs, [&](const auto& run) { return run.meta.uid == gone->uid; });
      }
      if (const auto* set = std::get_if<SetStatus>(&action)) job.status = set->status;
      if (const auto* tell = std::get_if<EmitEvent>(&action)) told.push_back(tell->reason);
    }
    return plan;
  }
  void end_all(const std::string& phase = "Succeeded") {
    for (auto& run : world.runs) {
      if (!run.status.phase.empty()) continue;
      run.status.phase = phase;
      run.status.completion_time = now;
    }
  }
  void at_time(const std::string& text) {
    now = at(text);
    pass();
    pass();  // sees what it has made
    EXPECT_TRUE(pass().actions.empty()) << "does not settle";
  }
};

using Times = std::vector<std::string>;

TEST(SampleJobSchedule, MakesARunWhenItIsDueAndNotBefore) {
  Model model;
  const Plan first = model.pass();
  EXPECT_TRUE(model.made.empty());
  EXPECT_EQ(first.requeue_after, 30min);
  EXPECT_EQ(model.job.status.cron->next_schedule, at("07:00"));
  model.at_time("07:00");
  EXPECT_EQ(model.made, (Times{"07:00"}));
  const api::SampleJob& run = model.world.runs.at(0);
  EXPECT_TRUE(run.spec.schedule.empty());
  EXPECT_EQ(run.spec.type, "sync");
  EXPECT_EQ(run.spec.backoff_limit, 2);
  EXPECT_EQ(run.meta.controller()->uid, model.job.meta.uid);
  EXPECT_EQ(run.meta.key.name, run_name(model.job, at("07:00")));
  EXPECT_EQ(model.job.status.cron->active.size(), 1u);
  EXPECT_EQ(model.job.status.cron->last_schedule, at("07:00"));
  model.end_all();
  model.at_time("08:00");
  EXPECT_EQ(model.made, (Times{"07:00", "08:00"}));
  EXPECT_EQ(model.job.status.cron->last_successful, at("07:00"));
}

TEST(SampleJobSchedule, AfterDowntimeOnlyTheLatestIsMadeUpFor) {
  Model model;
  model.at_time("11:20");
  EXPECT_EQ(model.made, (Times{"11:00"}));
}

TEST(SampleJobSchedule, AClockThatIsSetBackRepeatsNothingAndOneThatWasWrongDoesNotStopIt) {
  Model model;
  model.at_time("09:00");
  model.at_time("07:30");
  EXPECT_EQ(model.made, (Times{"09:00"}));
  model.at_time("08:00");  // an hour that has not been: made
  model.at_time("09:00");  // the same minute again: not
  EXPECT_EQ(model.made, (Times{"09:00", "08:00"}));
  model.at_time("10:00");
  EXPECT_EQ(model.made, (Times{"09:00", "08:00", "10:00"}));
}

TEST(SampleJobSchedule, ARunThatWasMadeBeforeTheStatusWasWrittenIsNotMadeAgain) {
  Model model;
  model.at_time("07:00");
  model.job.status = {};
  model.at_time("07:01");
  EXPECT_EQ(model.made, (Times{"07:00"}));
  EXPECT_EQ(model.job.status.cron->last_schedule, at("07:00"));
}

TEST(SampleJobSchedule, TooLateIsLeftOut) {
  Model model;
  model.job.spec.starting_deadline_seconds = 600;
  model.at_time("11:20");
  EXPECT_TRUE(model.made.empty());
  model.at_time("12:10");
  EXPECT_TRUE(model.made.empty());
  model.at_time("13:09");
  EXPECT_EQ(model.made, (Times{"13:00"}));
}

TEST(SampleJobSchedule, AllowRunsThemSideBySide) {
  Model model;
  model.at_time("07:00");
  model.at_time("08:00");
  EXPECT_EQ(model.job.status.cron->active.size(), 2u);
}

TEST(SampleJobSchedule, ForbidWaitsAndMakesUpForTheLatest) {
  Model model;
  model.job.spec.concurrency_policy = "Forbid";
  model.at_time("07:00");
  model.at_time("08:00");
  model.at_time("09:10");
  EXPECT_EQ(model.made, (Times{"07:00"}));
  model.end_all();
  model.at_time("09:20");
  EXPECT_EQ(model.made, (Times{"07:00", "09:00"}));
}

TEST(SampleJobSchedule, ReplaceTakesTheLastOneAway) {
  Model model;
  model.job.spec.concurrency_policy = "Replace";
  model.at_time("07:00");
  model.at_time("08:00");
  EXPECT_EQ(model.made, (Times{"07:00", "08:00"}));
  ASSERT_EQ(model.world.runs.size(), 1u);
  EXPECT_EQ(model.world.runs[0].meta.key.name, run_name(model.job, at("08:00")));
}

TEST(SampleJobSchedule, WhatIsDueWhileSuspendedIsNotMadeUpFor) {
  Model model;
  model.pass();
  model.job.spec.suspend = true;
  model.at_time("07:30");
  EXPECT_FALSE(model.job.status.cron->next_schedule);
  model.at_time("09:30");
  model.job.spec.suspend = false;
  model.at_time("09:40");
  EXPECT_TRUE(model.made.empty());
  model.at_time("10:00");
  EXPECT_EQ(model.made, (Times{"10:00"}));
}

TEST(SampleJobSchedule, HistoryIsKeptWithinItsLimits) {
  Model model;
  for (const char* hour : {"07:00", "08:00", "09:00", "10:00", "11:00"}) {
    model.at_time(hour);
    model.end_all();
    model.pass();
  }
  EXPECT_EQ(model.world.runs.size(), 3u);
  for (const char* hour : {"12:00", "13:00"}) {
    model.at_time(hour);
    model.end_all("Failed");
    model.pass();
  }
  EXPECT_EQ(model.world.runs.size(), 4u);
}

TEST(SampleJobSchedule, AStrangersJobUnderOneOfTheNamesIsNotTouched) {
  Model model;
  api::SampleJob stranger;
  stranger.meta.key = {"ns", run_name(model.job, at("07:00"))};
  model.world.runs.push_back(stranger);
  model.at_time("06:40");
  EXPECT_EQ(model.world.runs.size(), 1u);
  EXPECT_TRUE(model.job.status.cron->active.empty());
}

TEST(SampleJobSchedule, ABadScheduleOrZoneIsSaidOnce) {
  Model model;
  model.job.spec.schedule = "61 * * * *";
  model.at_time("07:00");
  EXPECT_EQ(model.told, (Times{"InvalidSchedule"}));
  model.job.spec.schedule = "@daily";
  model.job.spec.time_zone = "Mars/Olympus";
  model.at_time("07:01");
  EXPECT_EQ(model.told.size(), 2u);
  model.job.spec.time_zone = "Asia/Shanghai";
  model.at_time("07:02");
  EXPECT_EQ(model.job.status.cron->next_schedule, at("16:00"));
}

}  // namespace
}  // namespace paddle::controllers::sample_job
