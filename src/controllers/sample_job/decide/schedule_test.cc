// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/decide/schedule.h"

#include <gtest/gtest.h>

#include "controllers/sample_job/plan.h"
#include "controllers/sample_job/spec/names.h"

namespace paddle::controllers::sample_job {
namespace {

using namespace std::chrono_literals;

WallTime at(const std::string& text) { return *parse_rfc3339("2026-11-16T" + text + ":00Z"); }

// Plays the API server; runs end when a test says so.
struct ScheduleModel {
  api::SampleJob job{};
  World world{};
  WallTime now = at("06:30");
  std::vector<std::string> created{};  // when the runs were due
  std::vector<std::string> events{};   // their reasons

  ScheduleModel() {
    job.meta.key = {"ns", "nightly"};
    job.meta.uid = "0f5e2f6c-1111-2222-3333-444455556666";
    job.meta.created = at("06:10");
    job.meta.generation = 1;
    job.spec.type = "sync";
    job.spec.sample_set = api::LocalReference{.name = "imagenet"};
    job.spec.schedule = "@hourly";
    job.spec.backoff_limit = 2;
  }
  // Like the reconciler, plans again at once when a plan whose status was stored asks for it.
  Plan pass() {
    for (int round = 1;; ++round) {
      Plan plan = desired(job, world, {}, now);
      for (const Plan::Wave& wave : plan.waves) {
        for (const Action& action : wave) execute(action);
      }
      if (plan.status) job.status = *plan.status;
      if (!plan.status || plan.requeue_after != 0s || round == 4) return plan;
    }
  }
  void execute(const Action& action) {
    if (const auto* create = std::get_if<CreateRun>(&action)) {
      created.push_back(
          create->run.meta.annotations.at("batch.paddlepaddle.org/scheduled-at").substr(11, 5));
      world.runs.push_back(create->run);
      world.runs.back().meta.uid = "uid-" + std::to_string(created.size());
    }
    if (const auto* gone = std::get_if<DeleteRun>(&action)) {
      std::erase_if(world.runs, [&](const auto& run) { return run.meta.uid == gone->uid; });
    }
    if (const auto* event = std::get_if<EmitEvent>(&action)) events.push_back(event->reason);
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
    pass();  // observes what it has created
    const Plan last = pass();
    EXPECT_TRUE(last.waves.empty() && !last.status) << "does not settle";
  }
};

using Times = std::vector<std::string>;

TEST(SampleJobSchedule, ARunNamesTheUserOfItsSchedule) {
  ScheduleModel model;
  model.job.meta.annotations = {{"batch.paddlepaddle.org/requested-by", "alice"}, {"other", "x"}};
  model.pass();
  model.at_time("07:00");
  const auto& annotations = model.world.runs.at(0).meta.annotations;
  EXPECT_EQ(annotations.at("batch.paddlepaddle.org/requested-by"), "alice");
  EXPECT_FALSE(annotations.contains("other"));
}

TEST(SampleJobSchedule, CreatesARunWhenItIsDueAndNotBefore) {
  ScheduleModel model;
  const Plan first = model.pass();
  EXPECT_TRUE(model.created.empty());
  EXPECT_EQ(first.requeue_after, 30min);
  EXPECT_EQ(model.job.status.cron->next_schedule, at("07:00"));
  model.at_time("07:00");
  EXPECT_EQ(model.created, (Times{"07:00"}));
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
  EXPECT_EQ(model.created, (Times{"07:00", "08:00"}));
  EXPECT_EQ(model.job.status.cron->last_successful, at("07:00"));
}

TEST(SampleJobSchedule, AfterDowntimeOnlyTheLatestRunIsCreated) {
  ScheduleModel model;
  model.at_time("11:20");
  EXPECT_EQ(model.created, (Times{"11:00"}));
}

TEST(SampleJobSchedule, AClockThatIsSetBackRepeatsNoRunAndAWrongOneDoesNotStopTheSchedule) {
  ScheduleModel model;
  model.at_time("09:00");
  model.at_time("07:30");
  EXPECT_EQ(model.created, (Times{"09:00"}));
  model.at_time("08:00");  // no run for this hour yet: created
  model.at_time("09:00");  // the same minute again: not created
  EXPECT_EQ(model.created, (Times{"09:00", "08:00"}));
  model.at_time("10:00");
  EXPECT_EQ(model.created, (Times{"09:00", "08:00", "10:00"}));
}

TEST(SampleJobSchedule, ARunCreatedBeforeTheStatusWasWrittenIsNotCreatedAgain) {
  ScheduleModel model;
  model.at_time("07:00");
  model.job.status = {};
  model.at_time("07:01");
  EXPECT_EQ(model.created, (Times{"07:00"}));
  EXPECT_EQ(model.job.status.cron->last_schedule, at("07:00"));
}

TEST(SampleJobSchedule, SkipsARunThatIsLaterThanTheStartingDeadline) {
  ScheduleModel model;
  model.job.spec.starting_deadline_seconds = 600;
  model.at_time("11:20");
  EXPECT_TRUE(model.created.empty());
  model.at_time("12:10");
  EXPECT_TRUE(model.created.empty());
  model.at_time("13:09");
  EXPECT_EQ(model.created, (Times{"13:00"}));
}

TEST(SampleJobSchedule, AllowRunsJobsAtTheSameTime) {
  ScheduleModel model;
  model.at_time("07:00");
  model.at_time("08:00");
  EXPECT_EQ(model.job.status.cron->active.size(), 2u);
}

TEST(SampleJobSchedule, ForbidWaitsAndThenCreatesTheLatestRun) {
  ScheduleModel model;
  model.job.spec.concurrency_policy = "Forbid";
  model.at_time("07:00");
  model.at_time("08:00");
  model.at_time("09:10");
  EXPECT_EQ(model.created, (Times{"07:00"}));
  model.end_all();
  model.at_time("09:20");
  EXPECT_EQ(model.created, (Times{"07:00", "09:00"}));
}

TEST(SampleJobSchedule, ReplaceDeletesTheActiveRun) {
  ScheduleModel model;
  model.job.spec.concurrency_policy = "Replace";
  model.at_time("07:00");
  model.at_time("08:00");
  EXPECT_EQ(model.created, (Times{"07:00", "08:00"}));
  ASSERT_EQ(model.world.runs.size(), 1u);
  EXPECT_EQ(model.world.runs[0].meta.key.name, run_name(model.job, at("08:00")));
}

TEST(SampleJobSchedule, RunsThatWereDueWhileSuspendedAreNotCreated) {
  ScheduleModel model;
  model.pass();
  model.job.spec.suspend = true;
  model.at_time("07:30");
  EXPECT_FALSE(model.job.status.cron->next_schedule);
  model.at_time("09:30");
  model.job.spec.suspend = false;
  model.at_time("09:40");
  EXPECT_TRUE(model.created.empty());
  model.at_time("10:00");
  EXPECT_EQ(model.created, (Times{"10:00"}));
}

TEST(SampleJobSchedule, OldRunsAreDeletedBeyondTheHistoryLimits) {
  ScheduleModel model;
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

TEST(SampleJobSchedule, DeletesOldRunsOnlyAfterTheStatusHasBeenStored) {
  ScheduleModel model;
  model.job.spec.successful_jobs_history_limit = 0;
  model.at_time("07:00");
  model.end_all();
  const Plan first = desired(model.job, model.world, {}, model.now);
  ASSERT_TRUE(first.status);
  EXPECT_TRUE(first.waves.empty());
  EXPECT_EQ(first.requeue_after, 0s);
  model.job.status = *first.status;
  const Plan second = desired(model.job, model.world, {}, model.now);
  EXPECT_FALSE(second.status);
  ASSERT_EQ(second.waves.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<DeleteRun>(second.waves[0][0]));
}

TEST(SampleJobSchedule, AJobOfAnotherOwnerWithTheNameOfARunIsNotTouched) {
  ScheduleModel model;
  api::SampleJob foreign;
  foreign.meta.key = {"ns", run_name(model.job, at("07:00"))};
  model.world.runs.push_back(foreign);
  model.at_time("06:40");
  EXPECT_EQ(model.world.runs.size(), 1u);
  EXPECT_TRUE(model.job.status.cron->active.empty());
}

TEST(SampleJobSchedule, AnInvalidScheduleOrTimeZoneIsReportedOnce) {
  ScheduleModel model;
  model.job.spec.schedule = "61 * * * *";
  model.at_time("07:00");
  EXPECT_EQ(model.events, (Times{"InvalidSchedule"}));
  model.job.spec.schedule = "@daily";
  model.job.spec.time_zone = "Mars/Olympus";
  model.at_time("07:01");
  EXPECT_EQ(model.events.size(), 2u);
  model.job.spec.time_zone = "Asia/Shanghai";
  model.at_time("07:02");
  EXPECT_EQ(model.job.status.cron->next_schedule, at("16:00"));
}

}  // namespace
}  // namespace paddle::controllers::sample_job
