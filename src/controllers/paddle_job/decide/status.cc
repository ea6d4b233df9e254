// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/decide/status.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "api/phases.h"
#include "controllers/paddle_job/decide/conditions.h"
#include "controllers/paddle_job/decide/pods/pod_facts.h"
#include "controllers/paddle_job/names.h"
#include "controllers/paddle_job/reasons.h"
#include "controllers/paddle_job/spec/deadlines.h"
#include "controllers/placement/placement.h"

namespace paddle::controllers::paddle_job {
namespace {

using Status = api::PaddleJobStatus;
using std::chrono::nanoseconds;
using std::chrono::seconds;
namespace phase = api::paddle_job_phase;

constexpr seconds kDelayWhileRunning{5};
constexpr seconds kDelayWhileStarting{15};
constexpr seconds kDelayOfCompletedIndex{1};
constexpr seconds kDelayWhenBusy{30};
constexpr seconds kBusyCheck{5};
// About 300 bytes each, in an object for which etcd allows 1.5 MiB, the pod templates included.
constexpr std::size_t kMaxRefs = 1000;

std::string phase_of(const api::PaddleJob& job, const PlanContext& context) {
  const std::string& last = job.status.phase;
  const Outcome outcome = context.decision.outcome;
  if (phase::is_final(last)) return last;
  if (outcome == Outcome::kCompleted) return phase::kCompleted;
  if (outcome == Outcome::kFailed) return phase::kFailed;
  if (job.spec.suspend) return phase::kSuspended;
  const ReplicaSlots& slots = context.slots;
  if (outcome == Outcome::kRestart || context.in_backoff || !slots.old.empty()) {
    return phase::kRestarting;
  }
  if (slot_count(slots) > 0 && every_slot(slots, has_started)) return phase::kRunning;
  // Workers end one after another: a job that has been Running stays so until the last one ends.
  const bool complete = slot_count(slots) > 0 && empty_slots(slots) == 0;
  if (last == phase::kRunning && complete) return phase::kRunning;
  // From here on only the containers have to start.
  if (complete && without_address(slots) == 0) return phase::kStarting;
  return any_pod(slots, coordinating) ? phase::kStarting : phase::kPending;
}

void count_pods(const ReplicaSlots& slots, Status& status) {
  for (const RoleKind role : kRoles) role_status(status, role).reset();
  status.tasks.clear();
  std::size_t workers = 0;
  std::size_t refs_left = kMaxRefs;
  std::int64_t ready = 0;
  status.restarts = status.epoch;
  for (const GroupSlots& group : slots.groups) {
    api::RoleStatus counters = count(group);
    if (group.spec.kind == RoleKind::kWorker) {
      workers += counters.refs.size() + static_cast<size_t>(departed(group));
    }
    ready += counters.running + counters.succeeded;
    if (counters.refs.size() > refs_left) counters.refs.resize(refs_left);
    refs_left -= counters.refs.size();
    status.restarts += counters.restarts;
    if (is_task(group.spec)) {
      status.tasks[group.spec.name] = std::move(counters);
    } else {
      role_status(status, group.spec.kind) = std::move(counters);
    }
  }
  status.replicas = static_cast<std::int32_t>(workers);
  status.ready = std::to_string(ready) + "/" + std::to_string(slot_count(slots));
}

void set_times(const api::PaddleJob& job, const PlanContext& context, Status& status,
               WallTime now) {
  if (status.phase == phase::kRunning) {
    if (!status.start_time) status.start_time = now;
    if (!status.running_time) status.running_time = now;
  }
  if (status.phase == phase::kSuspended) status.active_time.reset();
  if (!job.spec.active_deadline_seconds || job.spec.suspend || status.active_time) return;
  if (!any_pod(context.slots, [](const api::Pod& pod) { return !pod.node.empty(); })) return;
  // A job that an older operator started, and that was never suspended, has been active since then.
  const bool resumed =
      api::find_condition(status.conditions, condition_type::kSuspended) != nullptr;
  status.active_time = resumed ? now : status.start_time.value_or(now);
}

// ---- delays ----

auto identity(const api::Condition& c) { return std::tie(c.type, c.status, c.reason); }

template <typename... Member>
bool same(const Status& a, const Status& b, Member... member) {
  return ((a.*member == b.*member) && ...);
}

// Users wait for such a change. Other changes (counters, messages) may be written together.
bool is_significant(const Status& before, const Status& after) {
  if (!same(before, after, &Status::phase, &Status::mode, &Status::epoch, &Status::port,
            &Status::observed_generation, &Status::sample_set, &Status::selector,
            &Status::active_time, &Status::restart_request)) {
    return true;
  }
  return !std::ranges::equal(
      before.conditions, after.conditions,
      [](const api::Condition& a, const api::Condition& b) { return identity(a) == identity(b); });
}

bool is_early(const std::string& phase) {
  return phase == phase::kPending || phase == phase::kStarting;
}

bool waits_for_startup(const api::Condition& c) {
  return c.type == condition_type::kReady && c.status == "False" &&
         (c.reason == reasons::kWaitingForPods || c.reason == reasons::kStarting);
}

// Routine progress of a start: pods are waited for, containers start. No later decision rests on
// it, and the next significant change replaces it.
bool is_startup_progress(const Status& before, const Status& after) {
  if (!is_early(after.phase) || !same(before, after, &Status::epoch, &Status::sample_set)) {
    return false;
  }
  const bool continued =
      is_early(before.phase) && same(before, after, &Status::mode, &Status::port,
                                     &Status::observed_generation, &Status::selector);
  if (before != Status{} && !continued) return false;
  const auto others = [](const api::Conditions& list) {
    std::vector<std::tuple<std::string, std::string, std::string>> found;
    for (const auto& each : list) {
      if (!waits_for_startup(each)) found.emplace_back(identity(each));
    }
    return found;
  };
  return others(before.conditions) == others(after.conditions);
}

seconds longest_delay(const api::PaddleJob& job, const Status& status, const World& world) {
  const bool completed = completed_indexes_of(job.status) != completed_indexes_of(status);
  if (!is_significant(job.status, status)) {
    if (completed) return kDelayOfCompletedIndex;
    return job.status.phase == phase::kRunning ? kDelayWhileRunning : kDelayWhileStarting;
  }
  // Older operators take an elastic job without a status for one whose keys in etcd are not clean.
  const bool may_wait = !completed && !job.spec.elastic && is_startup_progress(job.status, status);
  return world.busy && may_wait ? kDelayWhenBusy : seconds{0};
}

// Pods that have gone after their success count, too.
bool any_released(const ReplicaSlots& slots) {
  return any_done(slots) ||
         any_pod(slots, [](const api::Pod& pod) { return !waits_for_release(pod); });
}

// Until a pod starts: of the set that the spec names now.
void set_data_version(const api::PaddleJob& job, const PlanContext& context, Status& status) {
  const auto& set = context.world.data.set;
  status.sample_set.reset();
  if (job.spec.sample_set && set) status.sample_set = placement::data_version(*set);
}

}  // namespace

Status current_status(const api::PaddleJob& job, const PlanContext& context, WallTime now,
                      const Config& config) {
  Status status = job.status;
  const bool was_final = phase::is_final(status.phase);
  status.phase = phase_of(job, context);
  status.mode = mode_of(job.spec);
  status.observed_generation = job.meta.generation;
  // Only host ports are stored: a job that moves to the host network needs a block of its own.
  if (!was_final) status.port = uses_host_network(job.spec) ? stored_port(job) : 0;
  status.selector = std::string(kJobNameLabel) + "=" + job.meta.key.name + "," + kResTypeLabel +
                    "=" + to_string(RoleKind::kWorker);
  // The last counters of a finished job stay when its pods are deleted.
  if (!was_final) count_pods(context.slots, status);
  if (!was_final) set_times(job, context, status, now);
  if (phase::is_final(status.phase) && !status.completion_time) status.completion_time = now;
  if (!was_final && !any_released(context.slots)) set_data_version(job, context, status);
  // A job without pods, or one that restarts now, has nothing left to do for an earlier request.
  if (!was_final && (job.spec.suspend || context.decision.outcome == Outcome::kRestart ||
                     assigned_pods(context.slots).empty())) {
    status.restart_request = annotation(job.meta, kRestartAnnotation);
  }
  set_conditions(job, context, status, now, config);
  return status;
}

Status next_epoch(Status status, const JobDecision& decision, WallTime now) {
  status.epoch += 1;
  status.restarts += 1;
  clear_completed_indexes(status);
  if (decision.cause == Cause::kProgram) status.failures += 1;
  if (decision.cause == Cause::kDisruption) {
    status.disruptions = recent_disruptions(status, now) + 1;
  }
  status.running_time.reset();
  if (decision.cause == Cause::kIgnored) status.ignored_failures += 1;
  const bool pauses = decision.cause != Cause::kSpec && decision.cause != Cause::kOwner;
  if (pauses) status.restart_time = now;  // (spec/deadlines.h)
  return status;
}

nanoseconds status_delay(const api::PaddleJob& job, const Status& status, const World& world) {
  const nanoseconds longest = longest_delay(job, status, world);
  const nanoseconds left =
      std::max<nanoseconds>(longest - world.status_pending_for, nanoseconds{0});
  return longest == kDelayWhenBusy ? std::min<nanoseconds>(left, kBusyCheck) : left;
}

std::vector<EmitEvent> status_events(const api::PaddleJob& job, const Status& status) {
  std::vector<EmitEvent> events;
  const auto* ready = api::find_condition(status.conditions, condition_type::kReady);
  const std::string message = ready ? ready->message : status.phase;
  if (status.phase != job.status.phase && phase::is_final(status.phase)) {
    events.push_back({status.phase == phase::kFailed, status.phase, message});
  } else if (status.epoch != job.status.epoch && !job.spec.suspend) {
    const bool counted =
        status.failures != job.status.failures || status.disruptions != job.status.disruptions;
    events.push_back({counted, reasons::kRestarting, "the job restarts: " + message});
  }
  for (const char* type : {condition_type::kDataWarm, condition_type::kUpdatePending}) {
    const auto* now = api::find_condition(status.conditions, type);
    const bool is_new = now && !api::find_condition(job.status.conditions, type);
    if (is_new) events.push_back({true, now->reason, now->message});
  }
  return events;
}

}  // namespace paddle::controllers::paddle_job
