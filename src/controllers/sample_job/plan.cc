// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/plan.h"

#include <algorithm>

#include "api/phases.h"
#include "controllers/sample_job/decide/cancellation.h"
#include "controllers/sample_job/decide/plan_context.h"
#include "controllers/sample_job/decide/progress.h"
#include "controllers/sample_job/decide/reasons.h"
#include "controllers/sample_job/decide/schedule.h"
#include "controllers/sample_job/decide/start.h"
#include "controllers/sample_job/decide/status_delay.h"
#include "controllers/sample_job/spec/lifecycle.h"
#include "controllers/sample_job/spec/names.h"

namespace paddle::controllers::sample_job {
namespace {

// The job has finished: cancels what it abandoned, and deletes it when its TTL is over.
void clean_up(const PlanContext& context, api::SampleJobStatus& status, Plan& plan) {
  cancel_abandoned_parts(context, status, plan);
  if (!status.left.empty()) plan.requeue_within(context.config.blocked_poll);
  const auto expiry = expiry_of(context.job);
  if (!expiry) return;
  if (context.now < *expiry) {
    plan.requeue_within(*expiry - context.now);
  } else if (status == context.job.status) {
    plan.add(DeleteJob{});
  } else {
    plan.requeue_after = std::chrono::nanoseconds(0);  // the status is written first
  }
}

// A failed job whose spec has changed keeps only what still has to be cancelled.
void reset(const api::SampleJob& job, api::SampleJobStatus& status) {
  status = {.left = job.status.left, .conditions = job.status.conditions};
  std::erase_if(status.conditions,
                [](const api::Condition& c) { return c.type == condition_type::kFailed; });
}

// The spec may get a schedule or lose it before the job has begun: what the status says of the
// other form goes.
void forget_other_form(const api::SampleJob& job, api::SampleJobStatus& status) {
  const bool scheduled = !job.spec.schedule.empty();
  if (!scheduled) status.cron.reset();
  if (scheduled && !status.job_name.empty()) return;
  if (scheduled && status.phase == api::sample_job_phase::kPending) status.phase.clear();
  if (scheduled && !status.phase.empty()) return;
  const char* other = scheduled ? condition_type::kReady : condition_type::kScheduled;
  std::erase_if(status.conditions, [&](const api::Condition& c) { return c.type == other; });
}

}  // namespace

Plan desired(const api::SampleJob& job, const World& world, const Config& config, WallTime now) {
  Plan plan;
  const std::string finalizer = finalizer_of(job);  // older operators have set it
  if (std::ranges::find(job.meta.finalizers, finalizer) != job.meta.finalizers.end()) {
    plan.add(RemoveFinalizer{finalizer});
  }
  if (job.meta.deleting()) return plan;

  const PlanContext context{job, job_type(job.spec.type), world, config, now};
  api::SampleJobStatus status = job.status;
  forget_other_form(job, status);
  if (!job.spec.schedule.empty()) {
    follow_schedule(context, status, plan);
  } else if (is_over(job)) {
    clean_up(context, status, plan);
  } else {
    if (restarts(job)) reset(job, status);
    if (status.job_name.empty()) {
      status.observed_generation = job.meta.generation;  // an attempt keeps the spec it began with
      start_if_possible(context, status, plan);
    } else {
      follow(context, status, plan);
    }
  }
  if (status == job.status) return plan;
  // The next plan may need what is stored now, and an event must not be emitted again.
  if (plan.requeue_after != std::chrono::nanoseconds(0) && !plan.has_events()) {
    plan.status_delay = status_delay(job.status, status, world.since_status_write);
  }
  plan.status = std::move(status);
  return plan;
}

}  // namespace paddle::controllers::sample_job
