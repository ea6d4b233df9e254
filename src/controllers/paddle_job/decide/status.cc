// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/decide/status.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "controllers/paddle_job/decide/conditions.h"
#include "controllers/paddle_job/decide/pod_facts.h"
#include "controllers/paddle_job/objects/peer_config_map.h"
#include "controllers/paddle_job/spec/host_ports.h"

namespace paddle::controllers::paddle_job {
namespace {

std::string phase_of(const api::PaddleJob& job, const PlanContext& context) {
  const std::string& last = job.status.phase;
  if (finished(last)) return last;
  if (context.decision.outcome == Outcome::kCompleted) return "Completed";
  if (context.decision.outcome == Outcome::kFailed) return "Failed";
  if (job.spec.suspend) return "Suspended";
  const ReplicaSlots& slots = context.slots;
  const bool anew = context.decision.outcome == Outcome::kRestart;
  if (anew || context.in_backoff || !slots.old.empty()) return "Restarting";
  if (slot_count(slots) > 0 && every_slot(slots, has_started)) return "Running";
  // Workers end one after another: a job that ran goes on running until the last one has.
  const bool complete = slot_count(slots) > 0 && empty_slots(slots) == 0;
  if (last == "Running" && complete) return "Running";
  // From here on nothing is waited for but the pods themselves.
  if (complete && without_address(slots) == 0) return "Starting";
  return any_pod(slots, coordinating) ? "Starting" : "Pending";
}

void count_pods(const ReplicaSlots& slots, api::PaddleJobStatus& status) {
  for (const RoleKind role : kRoles) status_of(status, role).reset();
  status.tasks.clear();
  std::size_t workers = 0;
  for (const GroupSlots& group : slots.groups) {
    api::RoleStatus seen = count(group);
    if (group.spec.kind == RoleKind::kWorker) {
      workers += seen.refs.size() + static_cast<size_t>(departed(group));
    }
    if (is_task(group.spec)) {
      status.tasks[group.spec.name] = std::move(seen);
    } else {
      status_of(status, group.spec.kind) = std::move(seen);
    }
  }
  status.replicas = static_cast<std::int32_t>(workers);
}

auto said(const api::Condition& c) { return std::tie(c.type, c.status, c.reason); }

bool is_early(const std::string& phase) { return phase == "Pending" || phase == "Starting"; }

bool waits_for_startup(const api::Condition& c) {
  return c.type == "Ready" && c.status == "False" &&
         (c.reason == "WaitingForPods" || c.reason == "Starting");
}

}  // namespace

bool finished(const std::string& phase) { return phase == "Completed" || phase == "Failed"; }

api::PaddleJobStatus current_status(const api::PaddleJob& job, const PlanContext& context,
                                    WallTime now, const Config& config) {
  api::PaddleJobStatus status = job.status;
  const bool was_finished = finished(status.phase);
  status.phase = phase_of(job, context);
  status.mode = mode_of(job.spec);
  status.observed_generation = job.meta.generation;
  // Only blocks of the nodes' ports are remembered: a job that moves to the host network needs one.
  if (!was_finished) status.port = on_host_network(job.spec) ? remembered_port(job) : 0;
  status.selector = std::string(kJobNameLabel) + "=" + job.meta.key.name + "," + kResTypeLabel +
                    "=" + to_string(RoleKind::kWorker);
  // The last figures of a finished job stay, whoever cleans its pods.
  if (!was_finished) count_pods(context.slots, status);
  if (status.phase == "Running" && !status.start_time) status.start_time = now;
  if (finished(status.phase) && !status.completion_time) status.completion_time = now;
  const auto& set = context.world.data.set;
  if (job.spec.sample_set && set && !was_finished &&
      !any_pod(context.slots, [](const api::Pod& pod) { return !waits_for_release(pod); })) {
    status.sample_set = placement::data_version(*set);
  }
  set_conditions(job, context, status, now, config);
  return status;
}

api::PaddleJobStatus next_epoch(api::PaddleJobStatus status, const JobDecision& decision,
                                WallTime now) {
  status.epoch += 1;
  clear_completed_indexes(status);
  if (decision.cause == Cause::kProgram) status.failures += 1;
  if (decision.cause == Cause::kDisruption) status.disruptions += 1;
  const bool counted = decision.cause == Cause::kProgram || decision.cause == Cause::kDisruption;
  if (counted) status.restart_time = now;  // a pause follows, the longer the more there were
  return status;
}

bool is_significant(const api::PaddleJobStatus& before, const api::PaddleJobStatus& after) {
  const auto same = [&](const auto member) { return before.*member == after.*member; };
  using Status = api::PaddleJobStatus;
  if (!same(&Status::phase) || !same(&Status::mode) || !same(&Status::epoch) ||
      !same(&Status::port) || !same(&Status::observed_generation) || !same(&Status::sample_set) ||
      !same(&Status::selector)) {
    return true;
  }
  return !std::ranges::equal(
      before.conditions, after.conditions,
      [](const api::Condition& a, const api::Condition& b) { return said(a) == said(b); });
}

bool is_startup_progress(const api::PaddleJobStatus& before, const api::PaddleJobStatus& after) {
  const auto same = [&](const auto member) { return before.*member == after.*member; };
  using Status = api::PaddleJobStatus;
  if (!is_early(after.phase) || !same(&Status::epoch) || !same(&Status::sample_set)) return false;
  const bool first = before == Status{};
  if (!first && !(is_early(before.phase) && same(&Status::mode) && same(&Status::port) &&
                  same(&Status::observed_generation) && same(&Status::selector))) {
    return false;
  }
  const auto others = [](const api::Conditions& list) {
    std::vector<std::tuple<std::string, std::string, std::string>> found;
    for (const auto& each : list) {
      if (!waits_for_startup(each)) found.emplace_back(said(each));
    }
    return found;
  };
  return others(before.conditions) == others(after.conditions);
}

}  // namespace paddle::controllers::paddle_job
