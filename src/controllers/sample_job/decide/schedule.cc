// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/decide/schedule.h"

#include <algorithm>

#include "api/phases.h"
#include "controllers/sample_job/decide/reasons.h"
#include "controllers/sample_job/decide/status.h"
#include "controllers/sample_job/spec/deletion_text.h"
#include "controllers/sample_job/spec/names.h"
#include "cron/schedule.h"

namespace paddle::controllers::sample_job {
namespace {

using std::chrono::seconds;

bool is_run_of(const api::SampleJob& job, const api::SampleJob& run) {
  const auto* owner = run.meta.controller();
  return owner && owner->uid == job.meta.uid;
}

api::SampleJob make_run(const api::SampleJob& job, WallTime due) {
  api::SampleJob run;
  run.meta.key = {job.meta.key.ns, run_name(job, due)};
  run.meta.labels = job.meta.labels;
  run.meta.labels[kScheduleLabel] = job.meta.key.name;
  run.meta.annotations = {{kDueAnnotation, rfc3339(due)}};
  if (const auto user = api::annotation(job.meta, kRequestedBy); !user.empty()) {
    run.meta.annotations[kRequestedBy] = user;
  }
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

Runs runs_of(const api::SampleJob& job, const World& world) {
  Runs all;
  for (const api::SampleJob& run : world.runs) {
    if (!is_run_of(job, run) || run.meta.deleting()) continue;
    if (run.status.phase == api::sample_job_phase::kSucceeded) {
      all.succeeded.push_back(&run);
    } else if (run.status.phase == api::sample_job_phase::kFailed) {
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

void prune_history(const std::vector<const api::SampleJob*>& runs, int limit, Plan& plan) {
  for (size_t i = 0; i + static_cast<size_t>(limit) < runs.size(); ++i) {
    plan.add(DeleteRun{runs[i]->meta.key, runs[i]->meta.uid});
  }
}

// Since when runs may have been missed.
WallTime unchecked_since(const api::SampleJob& job, const api::CronJobStatus& cron, WallTime now) {
  WallTime since = job.meta.created.value_or(now);
  // What was due while it was suspended is not made up for.
  if (const auto* last = api::find_condition(job.status.conditions, condition_type::kScheduled)) {
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

std::string schedule_text(const api::SampleJob& job, const api::CronJobStatus& cron) {
  if (job.spec.suspend) return "suspended; set spec.suspend to false to continue";
  if (!cron.next_schedule) return "no time matches the schedule";
  return "the next run is due at " + rfc3339(*cron.next_schedule);
}

// Creates the run that is due, unless an active one prevents it.
void create_due_run(const api::SampleJob& job, const Runs& runs, WallTime due,
                    api::CronJobStatus& cron, Plan& plan) {
  const api::SampleJob run = make_run(job, due);
  const auto same = [&](const api::SampleJob* other) {
    return other->meta.key.name == run.meta.key.name;
  };
  const bool exists = std::ranges::any_of(runs.active, same) ||
                      std::ranges::any_of(runs.succeeded, same) ||
                      std::ranges::any_of(runs.failed, same);
  if (!exists && !runs.active.empty() && job.spec.concurrency_policy == "Forbid") {
    return;  // made up for when the active one has ended
  }
  if (!exists && job.spec.concurrency_policy == "Replace") {
    for (const auto* each : runs.active) plan.add(DeleteRun{each->meta.key, each->meta.uid});
  }
  if (!exists) plan.add(CreateRun{run});
  cron.last_schedule = due;
}

void reject_schedule(const PlanContext& context, const std::string& why,
                     api::SampleJobStatus& status, Plan& plan) {
  status.observed_generation = context.job.meta.generation;
  set_condition(context, status, condition_type::kScheduled, false, reason::kInvalidSchedule, why);
  if (status != context.job.status) plan.add(EmitEvent{true, reason::kInvalidSchedule, why});
}

// What is known of the runs, beside the times of the schedule.
void report_runs(const Runs& runs, api::CronJobStatus& cron) {
  cron.active.clear();
  for (const auto* run : runs.active) {
    cron.active.push_back({.api_version = api::SampleJob::kApiVersion,
                           .kind = api::SampleJob::kKind,
                           .ns = run->meta.key.ns,
                           .name = run->meta.key.name,
                           .uid = run->meta.uid});
  }
  if (runs.succeeded.empty()) return;
  const auto& last = runs.succeeded.back()->status.completion_time;
  if (last && (!cron.last_successful || *cron.last_successful < *last)) {
    cron.last_successful = last;
  }
}

}  // namespace

void follow_schedule(const PlanContext& context, api::SampleJobStatus& status, Plan& plan) {
  const api::SampleJob& job = context.job;
  const WallTime now = context.now;
  const auto schedule = cron::Schedule::parse(job.spec.schedule);
  if (!schedule) return reject_schedule(context, schedule.error().message, status, plan);
  const auto zone = cron::Zone::find(job.spec.time_zone);
  if (!zone) return reject_schedule(context, zone.error().message, status, plan);

  const Runs runs = runs_of(job, context.world);
  api::CronJobStatus cron = status.cron.value_or(api::CronJobStatus{});
  // A time in the future is that of a clock that was wrong; from now on this one counts.
  if (cron.last_schedule && *cron.last_schedule > now) cron.last_schedule = now;
  if (!job.spec.suspend) {
    const auto missed = schedule->missed(unchecked_since(job, cron, now), now, *zone);
    if (missed.latest) create_due_run(job, runs, *missed.latest, cron, plan);
  }
  cron.next_schedule = job.spec.suspend ? std::nullopt : schedule->next(now, *zone);
  report_runs(runs, cron);
  status.cron = cron;
  status.observed_generation = job.meta.generation;
  set_condition(context, status, condition_type::kScheduled, !job.spec.suspend,
                job.spec.suspend ? reason::kSuspended : reason::kScheduled,
                schedule_text(job, cron));
  if (cron.next_schedule) {
    plan.requeue_after =
        std::min<std::chrono::nanoseconds>(*cron.next_schedule - now, context.config.longest_sleep);
  }
  Plan pruning;
  prune_history(runs.succeeded, job.spec.successful_jobs_history_limit.value_or(3), pruning);
  prune_history(runs.failed, job.spec.failed_jobs_history_limit.value_or(1), pruning);
  if (pruning.waves.empty()) return;
  if (status != job.status) {
    plan.requeue_after = std::chrono::nanoseconds(0);  // the status is written first
  } else {
    for (Plan::Wave& wave : pruning.waves) plan.add(std::move(wave));
  }
}

}  // namespace paddle::controllers::sample_job
