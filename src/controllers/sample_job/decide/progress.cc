// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/decide/progress.h"

#include <algorithm>

#include "api/phases.h"
#include "controllers/runtime_jobs/fanout.h"
#include "controllers/runtime_jobs/job_progress.h"
#include "controllers/sample_job/decide/cancellation.h"
#include "controllers/sample_job/decide/queue.h"
#include "controllers/sample_job/decide/reasons.h"
#include "controllers/sample_job/decide/start.h"
#include "controllers/sample_job/decide/status.h"
#include "controllers/sample_job/spec/lifecycle.h"
#include "runtime/protocol/request_fields.h"

namespace paddle::controllers::sample_job {
namespace {

namespace phase = api::sample_job_phase;
namespace state = api::partition_state;
using api::JobPartition;

bool all_ended(const api::SampleJobStatus& status) {
  return std::ranges::all_of(status.partitions,
                             [](const JobPartition& part) { return state::is_final(part.state); });
}

bool has_failed(const api::SampleJobStatus& status) {
  return std::ranges::find(status.partitions, state::kFailed, &JobPartition::state) !=
         status.partitions.end();
}

// Whether the runtime of a partition may have had this part before, and have lost it.
bool was_requested(const api::SampleJobStatus& stored, const JobPartition& part) {
  const auto before = std::ranges::find(stored.partitions, part.index, &JobPartition::index);
  return before != stored.partitions.end() && before->id == part.id && !before->node.empty();
}

Result<runtime::JobRequest> request_for(const PlanContext& context, const JobPartition& part,
                                        const api::SampleJobStatus& status) {
  const api::SampleSet& set = *context.world.set;
  const bool divided = context.is_divided();
  TRY(runtime::JobRequest request, context.type.request(context.job, set, divided ? 0 : part.index,
                                                        divided ? 1 : context.partitions()));
  if (divided) {
    runtime_jobs::describe_part(part, status.partitions, runtime::lists_address(set), request);
  }
  request.which.again = was_requested(context.job.status, part);
  return request;
}

// Takes over what the runtimes report; returns the requests for those that do not know their part.
std::vector<PutJob> update_parts(const PlanContext& context, api::SampleJobStatus& status) {
  for (auto& part : status.partitions) {
    if (context.is_divided() || state::is_final(part.state)) continue;
    if (part.index < context.partitions()) continue;
    part.state = state::kCancelled;
    part.message = "the set has fewer partitions now";
  }
  std::vector<PutJob> requests;
  runtime_jobs::update_partitions(
      context.world.reports, context.partitions(), context.now, status.partitions,
      [&](const JobPartition& part) {
        auto request = request_for(context, part, status);
        if (request) requests.push_back({part.index, part.id, *std::move(request)});
      });
  status.work = context.type.each_does_all ? runtime_jobs::common_work(status.partitions)
                                           : runtime_jobs::sum(status.partitions);
  status.verification = runtime_jobs::sum_of_verifications(status.partitions);
  status.progress = runtime_jobs::progress_text(*status.work);
  return requests;
}

// Whether there is still something to interrupt. A part that is cancelled since the stored status
// may be so because of the interruption: its cancellation is answered before the status is written.
bool may_be_interrupted(const PlanContext& context, const api::SampleJobStatus& status) {
  if (!all_ended(status)) return true;
  if (has_failed(status)) return false;
  return std::ranges::any_of(status.partitions, [&](const JobPartition& part) {
    const auto& stored = context.job.status.partitions;
    const auto before = std::ranges::find(stored, part.index, &JobPartition::index);
    return part.state == state::kCancelled && before != stored.end() && before->id == part.id &&
           !state::is_final(before->state);
  });
}

// The other parts are useless without the one that failed, and they may wait for it.
void cancel_after_failure(const PlanContext& context, api::SampleJobStatus& status, Plan& plan) {
  auto failed = std::ranges::find(status.partitions, state::kFailed, &JobPartition::state);
  if (failed == status.partitions.end()) {
    failed = std::ranges::find(status.partitions, state::kCancelled, &JobPartition::state);
  }
  if (failed == status.partitions.end()) return;
  cancel_unfinished_parts(
      context, "cancelled because partition " + std::to_string(failed->index) + " did not complete",
      status, plan);
}

// Ends or suspends an attempt that would go on otherwise; false: there is no reason to.
bool interrupt(const PlanContext& context, api::SampleJobStatus& status, Plan& plan) {
  const std::string terminator = terminator_of(context.job, context.world.siblings);
  const auto deadline = deadline_of(context.job, status);
  const bool late = deadline && context.now >= *deadline;
  if (terminator.empty() && !late && !context.job.spec.suspend) return false;
  cancel_unfinished_parts(context, "", status, plan);
  if (!terminator.empty()) {
    fail_terminated(context, terminator, status, plan);
  } else if (late) {
    fail_late(context, status, plan);
  } else {
    status.phase = phase::kPending;
    status.job_name.clear();
    status.start_time.reset();
    set_condition(context, status, condition_type::kReady, false, reason::kSuspended,
                  "spec.suspend is true; set it to false to start again");
  }
  return true;
}

// Divides what is left of a sync again, under another id; what has been copied is not copied again.
// What it abandons is cancelled once that is stored: a part whose end is ours would look failed.
void redivide(const PlanContext& context, const std::string& why, api::SampleJobStatus& status,
              Plan& plan) {
  begin_attempt(runtime_jobs::next_division_id(status.job_name), status);
  runtime_jobs::redivide(status.job_name, target_partitions(context), status.partitions,
                         status.left);
  set_condition(context, status, condition_type::kReady, false, reason::kStarting,
                "divided again: " + why);
  plan.requeue_after = std::chrono::nanoseconds(0);
}

// Ends the attempt when all parts have ended; otherwise reports how far it is.
void conclude(const PlanContext& context, api::SampleJobStatus& status, Plan& plan) {
  if (runtime_jobs::all_succeeded(status.partitions)) {
    if (status.partitions.size() > 1 && context.is_divided()) {
      plan.add(MarkSyncComplete{status.job_name + "-all"});
    }
    return succeed(context, status, plan);
  }
  if (all_ended(status) && !status.partitions.empty()) {
    const std::string why = runtime_jobs::failures_text(status.partitions);
    status.failures += 1;
    if (status.failures > context.job.spec.backoff_limit.value_or(0)) {
      return fail(context, reason::kRuntimeFailed, why, status, plan);
    }
    return retry_later(context, why, status, plan);
  }
  report_progress(context, status, plan);
  plan.requeue_after = context.config.progress_poll;
}

}  // namespace

void follow(const PlanContext& context, api::SampleJobStatus& status, Plan& plan) {
  const std::size_t before = plan.waves.size();
  cancel_abandoned_parts(context, status, plan);
  std::vector<PutJob> requests = update_parts(context, status);
  Plan cancels;  // a request comes before the cancellation of the same part
  if (context.is_divided()) cancel_after_failure(context, status, cancels);
  if (may_be_interrupted(context, status) && interrupt(context, status, plan)) return;

  const bool acts = plan.waves.size() > before || !requests.empty() || !cancels.waves.empty();
  const std::string why =
      context.is_divided()
          ? runtime_jobs::redivision_reason(status.partitions, context.partitions(), context.now)
          : "";
  if (why.empty()) {
    for (PutJob& request : requests) plan.add(std::move(request));
  }
  for (Plan::Wave& wave : cancels.waves) plan.add(std::move(wave));
  if (context.job.status.phase == phase::kPending && acts) {
    plan.add(EmitEvent{false,
                       event_of(context.job, event_reason::kCreate) + event_reason::kSuccessfully,
                       "sent requests to the runtimes"});
  }
  if (why.empty()) {
    conclude(context, status, plan);
  } else {
    redivide(context, why, status, plan);
  }
}

}  // namespace paddle::controllers::sample_job
