// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/progress.h"

#include <algorithm>

namespace paddle::controllers {
namespace {

std::string next_phase(const api::PaddleJobStatus& last, const Roster& roster) {
  if (finished(last.phase)) return last.phase;
  if (any_failed(roster)) return "Failed";
  if (work_done(roster)) return "Completed";
  if (all_started(roster)) return "Running";
  // Workers end one after another: a job that ran goes on running until the last one has.
  if (last.phase == "Running" && missing(roster) == 0) return "Running";
  // From here on nothing is waited for but the pods themselves.
  if (missing(roster) == 0 && without_address(roster) == 0) return "Starting";
  const bool starting = std::ranges::any_of(
      roster.slots, [](const auto& role) { return count(role.second).starting > 0; });
  return starting ? "Starting" : "Pending";
}

// The first pod that failed, and how, in one sentence.
std::string failure(const Roster& roster) {
  for (const auto& [kind, slots] : roster.slots) {
    for (const api::Pod* pod : slots) {
      if (!pod || pod->phase != api::PodPhase::kFailed) continue;
      std::string text = "pod " + pod->meta.key.name + " failed";
      for (const auto& c : pod->containers) {
        if (c.exit_code == 0) continue;
        text += ": container " + c.name + " ended with exit code " + std::to_string(c.exit_code);
        if (!c.reason.empty()) text += " (" + c.reason + ")";
        return text + "; see kubectl logs " + pod->meta.key.name;
      }
      return pod->message.empty() ? text : text + ": " + pod->message;
    }
  }
  return "a pod failed";
}

api::Condition condition(const char* type, bool holds, std::string reason, std::string message,
                         std::int64_t generation) {
  return {.type = type,
          .status = holds ? "True" : "False",
          .reason = std::move(reason),
          .message = std::move(message),
          .observed_generation = generation};
}

api::Condition ready_condition(const api::PaddleJob& job, const std::string& phase,
                               const Roster& roster, const Blocker& blocker) {
  const auto say = [&](bool holds, std::string reason, std::string message) {
    return condition("Ready", holds, std::move(reason), std::move(message), job.meta.generation);
  };
  if (phase == "Failed") return say(false, "Failed", failure(roster));
  if (phase == "Completed") return say(false, "Completed", "every worker succeeded");
  if (phase == "Running") return say(true, "Running", "every pod runs");
  if (!blocker.reason.empty()) return say(false, blocker.reason, blocker.message);
  const int total = total_replicas(job.spec);
  if (const int left = without_address(roster); left > 0) {
    return say(false, "WaitingForPods",
               std::to_string(total - left) + " of " + std::to_string(total) +
                   " pods have an address; see kubectl describe pod for what holds one up");
  }
  return say(false, "Starting", "all pods have an address; containers are starting");
}

}  // namespace

bool finished(const std::string& phase) { return phase == "Completed" || phase == "Failed"; }

api::PaddleJobStatus observe(const api::PaddleJob& job, const Roster& roster,
                             const Blocker& blocker, WallTime now) {
  api::PaddleJobStatus status = job.status;
  const bool was_finished = finished(status.phase);
  status.phase = next_phase(job.status, roster);
  status.mode = mode_of(job.spec);
  status.observed_generation = job.meta.generation;
  status.port = kFirstPort;
  status.selector = std::string(kJobNameLabel) + "=" + job.meta.key.name + "," + kResTypeLabel +
                    "=" + to_string(RoleKind::kWorker);
  for (const RoleKind kind : kRoles) {
    auto& counters = status_of(status, kind);
    if (!role_of(job.spec, kind)) {
      counters.reset();
    } else if (!was_finished) {  // the last figures of a finished job stay, whoever cleans its pods
      counters = count(roster.slots.at(kind));
    }
  }
  status.replicas = static_cast<std::int32_t>(status.worker ? status.worker->refs.size() : 0);
  if (status.phase == "Running" && !status.start_time) status.start_time = now;
  if (finished(status.phase) && !status.completion_time) status.completion_time = now;
  if (!was_finished) {
    api::set_condition(status.conditions, ready_condition(job, status.phase, roster, blocker), now);
  }
  if (const auto texts = api::warnings(job); !texts.empty()) {
    std::string all;
    for (const auto& text : texts) all += (all.empty() ? "" : "; ") + text;
    api::set_condition(status.conditions,
                       condition("Warning", true, "CheckSpec", all, job.meta.generation), now);
  }
  return status;
}

}  // namespace paddle::controllers
