// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/decide/schedule.h"

#include <algorithm>

#include "base/stable_hash.h"
#include "cron/schedule.h"

namespace paddle::controllers::sample_job {
namespace {

using std::chrono::seconds;

constexpr const char* kDueAnnotation = "batch.paddlepaddle.org/scheduled-at";
constexpr seconds kLongestSleep{3600};  // the clock may be set

bool owns(const api::SampleJob& job, const api::SampleJob& run) {
  const auto* owner = run.meta.controller();
  return owner && owner->uid == job.meta.uid;
}

api::SampleJob run_of(const api::SampleJob& job, WallTime due) {
  api::SampleJob run;
  run.meta.key = {job.meta.key.ns, run_name(job, due)};
  run.meta.labels = job.meta.labels;
  run.meta.labels["batch.paddlepaddle.org/samplejob"] = job.meta.key.name;
  run.meta.annotations = {{kDueAnnotation, rfc3339(due)}};
  run.meta.owners = {{.api_version = api::SampleJob::kApiVersion,
                      .kind = api::SampleJob::kKind,
                      .name = job.meta.key.name,
                      .uid = job.meta.uid,
                      .controller = true,
                      .block_owner_deletion = true}};
  run.spec = job.spec;
  run.spec.schedule.clear();
  run.spec.time_zone.clear();
  run.spec.concurrency_policy.clear();
  run.spec.suspend = false;
  run.spec.starting_deadline_seconds.reset();
  run.spec.successful_jobs_history_limit.reset();
  run.spec.failed_jobs_history_limit.reset();
  return run;
}

struct Runs {
  std::vector<const api::SampleJob*> active{};
  std::vector<const api::SampleJob*> succeeded{};
  std::vector<const api::SampleJob*> failed{};
};

Runs sorted(const api::SampleJob& job, const World& world) {
  Runs all;
  for (const api::SampleJob& run : world.runs) {
    if (!owns(job, run) || run.meta.deleting()) continue;
    if (run.status.phase == "Succeeded") {
      all.succeeded.push_back(&run);
    } else if (run.status.phase == "Failed") {
      all.failed.push_back(&run);
    } else {
      all.active.push_back(&run);
    }
  }
  const auto by_end = [](const api::SampleJob* a, const api::SampleJob* b) {
    return std::tie(a->status.completion_time, a->meta.key.name) <
           std::tie(b->status.completion_time, b->meta.key.name);
  };
  std::ranges::sort(all.succeeded, by_end);
  std::ranges::sort(all.failed, by_end);
  std::ranges::sort(all.active, {}, [](const api::SampleJob* run) { return run->meta.key.name; });
  return all;
}

void forget_old(const std::vector<const api::SampleJob*>& runs, int limit, Plan& plan) {
  for (size_t i = 0; i + static_cast<size_t>(limit) < runs.size(); ++i) {
    plan.actions.emplace_back(DeleteRun{runs[i]->meta.key, runs[i]->meta.uid});
  }
}

Plan refused(const api::SampleJob& job, const std::string& reason, WallTime now) {
  api::SampleJobStatus status = job.status;
  status.observed_generation = job.meta.generation;
  api::set_condition(status.conditions,
                     {.type = "Scheduled",
                      .status = "False",
                      .reason = "InvalidSchedule",
                      .message = reason,
                      .observed_generation = job.meta.generation},
                     now);
  Plan plan;
  if (status != job.status) {
    plan.actions.emplace_back(EmitEvent{true, "InvalidSchedule", reason});
    plan.actions.emplace_back(SetStatus{std::move(status)});
  }
  return plan;
}

// From when on times may have been missed.
WallTime looked_at(const api::SampleJob& job, const api::CronJobStatus& cron, WallTime now) {
  WallTime since = job.meta.created.value_or(now);
  // What was due while it was suspended was not wanted.
  if (const auto* last = api::find_condition(job.status.conditions, "Scheduled")) {
    if (last->status != "True") return now;
    const WallTime resumed = last->last_transition.value_or(since);
    if (resumed <= now) since = std::max(since, resumed);
  }
  if (cron.last_schedule) since = std::max(since, *cron.last_schedule);
  if (since > now) since = now;
  if (job.spec.starting_deadline_seconds) {
    since = std::max<WallTime>(since, now - seconds(*job.spec.starting_deadline_seconds));
  }
  return since;
}

std::string text_of(const api::SampleJob& job, const api::CronJobStatus& cron) {
  if (job.spec.suspend) return "suspended; set spec.suspend to false to go on";
  if (!cron.next_schedule) return "no time matches the schedule";
  return "the next run is due at " + rfc3339(*cron.next_schedule);
}

// Makes the run that is due, unless another one stands in its way.
void start_due(const api::SampleJob& job, const Runs& runs, WallTime due, api::CronJobStatus& cron,
               Plan& plan) {
  const api::SampleJob run = run_of(job, due);
  const auto same = [&](const api::SampleJob* other) {
    return other->meta.key.name == run.meta.key.name;
  };
  const bool made = std::ranges::any_of(runs.active, same) ||
                    std::ranges::any_of(runs.succeeded, same) ||
                    std::ranges::any_of(runs.failed, same);
  if (!made && !runs.active.empty() && job.spec.concurrency_policy == "Forbid") {
    return;  // made up for when that one has ended
  }
  if (!made && job.spec.concurrency_policy == "Replace") {
    for (const auto* each : runs.active) {
      plan.actions.emplace_back(DeleteRun{each->meta.key, each->meta.uid});
    }
  }
  if (!made) plan.actions.emplace_back(CreateRun{run});
  cron.last_schedule = due;
}

}  // namespace

std::string run_name(const api::SampleJob& job, WallTime due) {
  const auto minute = std::chrono::floor<std::chrono::minutes>(due).time_since_epoch().count();
  const std::string hash = stable_hash_hex(job.meta.uid + "/" + std::to_string(minute));
  return job.meta.key.name + "-" + hash.substr(0, 10);
}

Plan desired_schedule(const api::SampleJob& job, const World& world, WallTime now) {
  const auto schedule = cron::Schedule::parse(job.spec.schedule);
  if (!schedule) return refused(job, schedule.error().message, now);
  const auto zone = cron::Zone::find(job.spec.time_zone);
  if (!zone) return refused(job, zone.error().message, now);

  Plan plan;
  const Runs runs = sorted(job, world);
  api::SampleJobStatus status = job.status;
  api::CronJobStatus cron = status.cron.value_or(api::CronJobStatus{});
  // A time from the future is a clock's that was wrong; from here on this one counts.
  if (cron.last_schedule && *cron.last_schedule > now) cron.last_schedule = now;
  if (!job.spec.suspend) {
    const auto missed = schedule->missed(looked_at(job, cron, now), now, *zone);
    if (missed.latest) start_due(job, runs, *missed.latest, cron, plan);
  }
  cron.next_schedule = job.spec.suspend ? std::nullopt : schedule->next(now, *zone);
  cron.active.clear();
  for (const auto* run : runs.active) {
    cron.active.push_back({.api_version = api::SampleJob::kApiVersion,
                           .kind = api::SampleJob::kKind,
                           .ns = run->meta.key.ns,
                           .name = run->meta.key.name,
                           .uid = run->meta.uid});
  }
  if (!runs.succeeded.empty()) {
    const auto& last = runs.succeeded.back()->status.completion_time;
    if (last && (!cron.last_successful || *cron.last_successful < *last)) {
      cron.last_successful = last;
    }
  }
  status.cron = cron;
  status.observed_generation = job.meta.generation;
  api::set_condition(status.conditions,
                     {.type = "Scheduled",
                      .status = job.spec.suspend ? "False" : "True",
                      .reason = job.spec.suspend ? "Suspended" : "Scheduled",
                      .message = text_of(job, cron),
                      .observed_generation = job.meta.generation},
                     now);
  if (status != job.status) plan.actions.emplace_back(SetStatus{status});
  forget_old(runs.succeeded, job.spec.successful_jobs_history_limit.value_or(3), plan);
  forget_old(runs.failed, job.spec.failed_jobs_history_limit.value_or(1), plan);
  if (cron.next_schedule) {
    plan.requeue_after =
        std::min<std::chrono::nanoseconds>(*cron.next_schedule - now, kLongestSleep);
  }
  return plan;
}

}  // namespace paddle::controllers::sample_job
