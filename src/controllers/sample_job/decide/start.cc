// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/decide/start.h"

#include "api/phases.h"
#include "base/backoff.h"
#include "controllers/sample_job/decide/cancellation.h"
#include "controllers/sample_job/decide/preconditions.h"
#include "controllers/sample_job/decide/queue.h"
#include "controllers/sample_job/decide/reasons.h"
#include "controllers/sample_job/decide/status.h"
#include "controllers/sample_job/spec/deletion_text.h"
#include "controllers/sample_job/spec/lifecycle.h"
#include "controllers/sample_job/spec/names.h"

namespace paddle::controllers::sample_job {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

nanoseconds retry_pause(const Config& config, int failures) {
  return backoff(config.first_retry, failures, config.longest_retry);
}

// What is left of the pause after a failed attempt; absent: the next one may start.
std::optional<seconds> remaining_pause(const PlanContext& context,
                                       const api::SampleJobStatus& status) {
  if (status.failures == 0 || !status.last_failure) return std::nullopt;
  const nanoseconds since = context.now - *status.last_failure;
  const nanoseconds pause = retry_pause(context.config, status.failures);
  if (since < seconds(0) || since >= pause) return std::nullopt;
  return std::chrono::ceil<seconds>(pause - since);
}

void block(const PlanContext& context, const BlockReason& why, api::SampleJobStatus& status,
           Plan& plan) {
  const auto* before = api::find_condition(context.job.status.conditions, condition_type::kReady);
  set_condition(context, status, condition_type::kReady, false, why.reason, why.message);
  if (why.reason.starts_with("Error") && (!before || before->reason != why.reason)) {
    plan.add(EmitEvent{true, why.reason, why.message});
  }
  plan.requeue_after = context.config.blocked_poll;
}

// The condition may already have the message of the failure, which says more.
void wait_for_retry(const PlanContext& context, seconds pause, api::SampleJobStatus& status,
                    Plan& plan) {
  const auto* ready = api::find_condition(status.conditions, condition_type::kReady);
  if (!ready || ready->reason != reason::kRetrying) {
    set_condition(context, status, condition_type::kReady, false, reason::kRetrying,
                  "attempt " + std::to_string(status.failures) + " failed");
  }
  plan.requeue_after = pause;
}

void start(const PlanContext& context, api::SampleJobStatus& status, Plan& plan) {
  begin_attempt(attempt_id(context.job.meta, status.failures), status);
  status.partitions = runtime_jobs::start_partitions(status.job_name, target_partitions(context));
  if (!status.start_time) status.start_time = context.now;
  set_condition(context, status, condition_type::kReady, false, reason::kStarting,
                "sending requests to the runtimes");
  if (const auto warning = context.type.warning(context.job.spec); !warning.empty()) {
    set_condition(context, status, condition_type::kWarning, true, reason::kCheckSpec, warning);
  }
  if (const auto text = deletion_text(context.job); !text.empty() && status.failures == 0) {
    plan.add(EmitEvent{false, event_reason::kDeletionRequested, text});
  }
  if (context.job.spec.terminate && status.failures == 0) {
    plan.add(EmitEvent{false, event_reason::kTerminateSuccessfully,
                       "older jobs of the set that ran or waited have been cancelled"});
  }
  plan.requeue_after = nanoseconds(0);
}

}  // namespace

void start_if_possible(const PlanContext& context, api::SampleJobStatus& status, Plan& plan) {
  const api::SampleJob& job = context.job;
  status.phase = api::sample_job_phase::kPending;
  if (job.spec.suspend) status.start_time.reset();  // a resumed job has all of its time again
  cancel_abandoned_parts(context, status, plan);
  const auto deadline = deadline_of(job, status);
  if (const auto terminator = terminator_of(job, context.world.siblings); !terminator.empty()) {
    return fail_terminated(context, terminator, status, plan);
  }
  if (deadline && context.now >= *deadline) return fail_late(context, status, plan);
  if (!context.world.refusal.empty()) {
    return fail(context, reason::kInvalidSpec, context.world.refusal, status, plan);
  }
  if (const BlockReason why = block_reason(context); why.blocks()) {
    block(context, why, status, plan);
  } else if (const auto pause = remaining_pause(context, status)) {
    wait_for_retry(context, *pause, status, plan);
  } else if (const auto request =
                 context.type.request(job, *context.world.set, 0, context.partitions());
             !request) {
    return fail(context, reason::kInvalidSpec, request.error().message, status, plan);
  } else {
    start(context, status, plan);
  }
  if (deadline) plan.requeue_within(*deadline - context.now);
}

std::vector<int> target_partitions(const PlanContext& context) {
  if (context.is_divided()) {
    return runtime_jobs::sharing_partitions(context.world.reports, context.partitions());
  }
  std::vector<int> all;
  for (int i = 0; i < context.required_runtimes(); ++i) all.push_back(i);
  return all;
}

void begin_attempt(const std::string& id, api::SampleJobStatus& status) {
  status.job_name = id;
  status.work.reset();
  status.verification.reset();
  status.progress.clear();
}

void retry_later(const PlanContext& context, const std::string& why, api::SampleJobStatus& status,
                 Plan& plan) {
  status.phase = api::sample_job_phase::kPending;
  status.job_name.clear();
  status.last_failure = context.now;
  set_condition(context, status, condition_type::kReady, false, reason::kRetrying,
                "attempt " + std::to_string(status.failures) + " failed: " + why);
  plan.requeue_after = retry_pause(context.config, status.failures);
}

}  // namespace paddle::controllers::sample_job
