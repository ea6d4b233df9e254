// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/decide/status.h"

#include <algorithm>

#include "api/phases.h"
#include "base/units.h"
#include "controllers/runtime_jobs/fanout.h"
#include "controllers/runtime_jobs/job_progress.h"
#include "controllers/sample_job/decide/reasons.h"

namespace paddle::controllers::sample_job {
namespace {

namespace phase = api::sample_job_phase;
namespace state = api::partition_state;
using runtime_jobs::amount_text;
using runtime_jobs::progress_text;

void set_duration(const PlanContext& context, api::SampleJobStatus& status) {
  const auto ran = context.now - *status.start_time;
  status.duration = human_duration(std::chrono::floor<std::chrono::seconds>(ran));
}

void finish(const PlanContext& context, bool succeeded, const std::string& reason,
            const std::string& message, api::SampleJobStatus& status, Plan& plan) {
  status.phase = succeeded ? phase::kSucceeded : phase::kFailed;
  status.completion_time = context.now;
  if (!status.start_time) status.start_time = context.now;
  set_duration(context, status);
  if (status.work) status.work->bytes_per_second = status.work->eta_seconds = 0;
  set_condition(context, status, succeeded ? condition_type::kComplete : condition_type::kFailed,
                true, reason, message);
  set_condition(context, status, condition_type::kReady, false, reason, message);
  const std::string event =
      succeeded ? event_of(context.job, event_reason::kDo) + event_reason::kSuccessfully
                : event_of(context.job, event_reason::kErrorDo);
  plan.add(EmitEvent{!succeeded, event, message});
  if (status.verification && status.verification->corrupt > 0) {
    plan.add(EmitEvent{true, event_reason::kSamplesCorrupt,
                       runtime_jobs::verification_text(*status.verification) +
                           "; what was corrupt has been dropped from the cache: check its disk"});
  }
}

// How many quarters of the bytes are done; 0 while the total is not known.
std::int64_t quarters(const std::optional<api::Work>& work) {
  return work && work->bytes_total > 0
             ? work->bytes_done / std::max<std::int64_t>(1, work->bytes_total / 4)
             : 0;
}

std::string done_text(const api::SampleJobStatus& status) {
  if (status.verification) return runtime_jobs::verification_text(*status.verification);
  const std::size_t parts = status.partitions.size();
  std::string text = parts == 1 ? "done" : "done on all " + std::to_string(parts) + " partitions";
  if (const std::string amount = status.work ? amount_text(*status.work) : ""; !amount.empty()) {
    text += ": " + amount;
  }
  // Every runtime lists the source for itself and finds the same: one remark is enough.
  const auto remark = std::ranges::find_if(
      status.partitions, [](const api::JobPartition& part) { return !part.message.empty(); });
  if (remark != status.partitions.end()) text += "; " + remark->message;
  return text;
}

std::string running_text(const api::SampleJobStatus& status) {
  std::string text = status.progress.empty() ? "the runtimes are working" : status.progress;
  if (status.work && status.work->bytes_per_second > 0 && status.work->eta_seconds > 0) {
    text += ", " + std::to_string(status.work->eta_seconds) + " s left";
  }
  for (const auto& part : status.partitions) {
    if (state::is_final(part.state) || part.message.empty()) continue;
    text += "; partition " + std::to_string(part.index) + ": " + part.message;
    break;
  }
  return text;
}

// The partitions that the job waits for because their runtimes are away: "2, 3". Empty: another
// part is at work, or they have not been away for long.
std::string partitions_away(const PlanContext& context, const api::SampleJobStatus& status) {
  std::string away;
  for (const auto& part : status.partitions) {
    if (state::is_final(part.state)) continue;
    const bool stalled =
        part.stalled_since && context.now - *part.stalled_since >= runtime_jobs::kStallTimeout;
    if (!stalled || runtime_jobs::is_reachable(context.world.reports, part.index)) return "";
    away += (away.empty() ? "" : ", ") + std::to_string(part.index);
  }
  return away;
}

}  // namespace

void set_condition(const PlanContext& context, api::SampleJobStatus& status, const char* type,
                   bool is_true, std::string reason, std::string message) {
  api::set_condition(status.conditions,
                     {.type = type,
                      .status = is_true ? "True" : "False",
                      .reason = std::move(reason),
                      .message = std::move(message),
                      .observed_generation = context.job.meta.generation},
                     context.now);
}

std::string event_of(const api::SampleJob& job, const std::string& verb) {
  std::string type = job.spec.type;
  if (!type.empty()) type[0] = static_cast<char>(type[0] - 'a' + 'A');
  return verb + type + event_reason::kJob;
}

void succeed(const PlanContext& context, api::SampleJobStatus& status, Plan& plan) {
  if (status.work && status.work->bytes_total > 0) {
    status.progress = progress_text(*status.work);
  } else if (status.progress.empty()) {
    status.progress = "100%";
  }
  finish(context, true, reason::kSucceeded, done_text(status), status, plan);
}

void fail(const PlanContext& context, const std::string& reason, const std::string& message,
          api::SampleJobStatus& status, Plan& plan) {
  finish(context, false, reason, message, status, plan);
}

void fail_terminated(const PlanContext& context, const std::string& terminator,
                     api::SampleJobStatus& status, Plan& plan) {
  finish(context, false, reason::kTerminated, "cancelled by samplejob " + terminator, status, plan);
}

void fail_late(const PlanContext& context, api::SampleJobStatus& status, Plan& plan) {
  finish(context, false, reason::kDeadlineExceeded,
         "ran longer than spec.activeDeadlineSeconds; cancelled", status, plan);
}

void report_progress(const PlanContext& context, api::SampleJobStatus& status, Plan& plan) {
  const bool runs = std::ranges::any_of(
      status.partitions, [](const auto& part) { return part.state == state::kRunning; });
  const bool running = runs || context.job.status.phase == phase::kRunning;
  status.phase = running ? phase::kRunning : phase::kPending;
  // Together with the progress: an age that changed with each pass would be written with each pass.
  if (status.start_time && status.progress != context.job.status.progress) {
    set_duration(context, status);
  }
  if (const std::string away = partitions_away(context, status); !away.empty()) {
    const std::string set = context.world.set ? context.world.set->meta.key.name : "";
    return set_condition(context, status, condition_type::kReady, false,
                         reason::kWaitingForRuntimes,
                         "waiting for the runtimes of partition " + away +
                             ", which have been away for more than a minute; all other parts are "
                             "done. See kubectl describe sampleset " +
                             set + ", or set spec.activeDeadlineSeconds");
  }
  const std::string text = running_text(status);
  set_condition(context, status, condition_type::kReady, running,
                running ? reason::kRunning : reason::kStarting, text);
  const std::int64_t done = quarters(status.work);
  if (done > quarters(context.job.status.work) && done < 4) {
    plan.add(EmitEvent{false, event_reason::kProgress, text});
  }
}

}  // namespace paddle::controllers::sample_job
