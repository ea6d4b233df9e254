// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/decide/conditions.h"

#include <algorithm>

#include "api/phases.h"
#include "controllers/paddle_job/decide/pods/pod_facts.h"
#include "controllers/paddle_job/objects/pod_group.h"
#include "controllers/paddle_job/reasons.h"
#include "controllers/paddle_job/spec/queueing.h"
#include "controllers/paddle_job/spec/validation.h"
#include "controllers/placement/placement.h"

namespace paddle::controllers::paddle_job {
namespace {

namespace phase = api::paddle_job_phase;

constexpr int kWorkersNamed = 5;

class Conditions {
 public:
  Conditions(api::Conditions& list, std::int64_t generation, WallTime now)
      : list_(list), generation_(generation), now_(now) {}

  void set(const char* type, bool value, BlockReason reason) {
    api::set_condition(list_,
                       {.type = type,
                        .status = value ? "True" : "False",
                        .reason = std::move(reason.reason),
                        .message = std::move(reason.message),
                        .observed_generation = generation_},
                       now_);
  }
  bool has(const char* type) const { return api::find_condition(list_, type) != nullptr; }
  void drop(const char* type) {
    std::erase_if(list_, [&](const api::Condition& c) { return c.type == type; });
  }

 private:
  api::Conditions& list_;
  const std::int64_t generation_;
  const WallTime now_;
};

// Why the first pod that cannot start does not.
std::optional<BlockReason> first_stuck(const ReplicaSlots& slots) {
  for (const api::Pod* pod : assigned_pods(slots)) {
    if (pod->meta.deleting()) continue;
    if (auto reason = stuck_reason(*pod)) return reason;
  }
  return std::nullopt;
}

// Workers that may run on any node although they have a partition: it had no node when their pods
// were created, or lost it before they were scheduled (placement.h). Unset when there is none.
std::optional<BlockReason> away_from_data(const api::PaddleJob& job, const PlanContext& context) {
  const auto& set = context.world.data.set;
  const auto workers = pods_of(context.slots, RoleKind::kWorker);
  std::string indexes;
  int count = 0;
  const int partitions =
      std::min(set->spec.effective_partitions(), static_cast<int>(workers.size()));
  for (int i = 0; i < partitions; ++i) {
    const api::Pod* pod = workers[static_cast<size_t>(i)];
    if (!pod || pod->meta.deleting() || !pod->gates.empty()) continue;
    if (pod->meta.annotations.contains(placement::kPlacedAnnotation)) continue;
    if (++count <= kWorkersNamed) indexes += (indexes.empty() ? "" : ", ") + std::to_string(i);
  }
  if (count == 0) return std::nullopt;
  if (count > kWorkersNamed) indexes += " and " + std::to_string(count - kWorkersNamed) + " more";
  const std::string set_name = job.spec.sample_set->name;
  if (count == 1) {
    return BlockReason{placement::reasons::kNoNode,
                       "worker " + indexes +
                           " may run on any node and reads over the network: its " +
                           "partition of the SampleSet " + set_name + " had no node"};
  }
  return BlockReason{placement::reasons::kNoNode,
                     "workers " + indexes +
                         " may run on any node and read over the network: their " +
                         "partitions of the SampleSet " + set_name + " had no node"};
}

BlockReason suspended(const World& world) {
  if (world.pods.empty()) return {reasons::kSuspended, "the job has no pods"};
  const size_t left = world.pods.size();
  return {reasons::kSuspended, "waiting for " + std::to_string(left) +
                                   (left == 1 ? " pod" : " pods") + " to be deleted"};
}

BlockReason startup_block_reason(const api::PaddleJob& job, const PlanContext& context,
                                 const std::string& phase) {
  if (context.world.trouble) return *context.world.trouble;
  if (context.blocked) return *context.blocked;
  const ReplicaSlots& slots = context.slots;
  if (phase == phase::kRestarting) {
    if (!slots.old.empty()) {
      return {reasons::kRestarting, "waiting for " + std::to_string(slots.old.size()) +
                                        " pods of the previous run to be deleted"};
    }
    return {reasons::kRestarting, "a pause before the job restarts"};
  }
  if (auto stuck = first_stuck(slots)) return *std::move(stuck);
  const int total = total_replicas(job.spec);
  if (const int left = without_address(slots); left > 0) {
    return {reasons::kWaitingForPods,
            std::to_string(total - left) + " of " + std::to_string(total) +
                " pods have an address; kubectl describe pod shows what the "
                "others wait for"};
  }
  return {reasons::kStarting, "all pods have an address; containers are starting"};
}

BlockReason not_ready_reason(const api::PaddleJob& job, const PlanContext& context,
                             const std::string& phase) {
  if (phase::is_final(phase) || context.decision.outcome == Outcome::kRestart) {
    return context.decision.reason;
  }
  if (phase == phase::kSuspended) {
    const std::string queue = queue_of(job);
    if (queue.empty()) {
      return {reasons::kSuspended, "spec.suspend is true; set it to false to resume the job"};
    }
    return {reasons::kSuspended,
            "waiting in the queue " + queue + "; the job starts when spec.suspend becomes false"};
  }
  return startup_block_reason(job, context, phase);
}

// Why a job that has been running does not run as a whole now; nothing while it does.
std::optional<BlockReason> interruption(const api::PaddleJob& job, const PlanContext& context) {
  if (auto stuck = first_stuck(context.slots)) return stuck;
  for (const api::Pod* pod : assigned_pods(context.slots)) {
    if (auto failure = container_failure(*pod)) return failure;
  }
  const auto runs = [](const api::Pod& pod) {
    return is_working(pod) || pod.phase == api::PodPhase::kSucceeded;
  };
  if (every_slot(context.slots, runs)) return std::nullopt;
  return startup_block_reason(job, context, phase::kRunning);
}

// False while workers are away from their data, else absent.
void set_data_local(const api::PaddleJob& job, const PlanContext& context, Conditions& conditions) {
  const auto& ref = job.spec.sample_set;
  if (!ref || ref->affinity == "preferred" || context.world.pods.empty()) {
    return conditions.drop(condition_type::kDataLocal);
  }
  if (!context.world.data.set) return;  // unchanged
  auto away = away_from_data(job, context);
  if (!away) return conditions.drop(condition_type::kDataLocal);
  conditions.set(condition_type::kDataLocal, false, *std::move(away));
}

// True while pods have another template than the spec, else absent.
void set_update_pending(const api::PaddleJob& job, const PlanContext& context,
                        Conditions& conditions) {
  const TemplateChange& change = context.template_change;
  if (change.pods == 0 || context.decision.outcome != Outcome::kContinue) {
    return conditions.drop(condition_type::kUpdatePending);
  }
  conditions.set(condition_type::kUpdatePending, true,
                 {reasons::kTemplateChanged, update_message(job, change)});
}

// False when the job was started before its samples were cached, until other pods wait for them.
void set_data_warm(const api::PaddleJob& job, const PlanContext& context, Conditions& conditions) {
  const auto& ref = job.spec.sample_set;
  if (context.cold) return conditions.set(condition_type::kDataWarm, false, *context.cold);
  const bool suspended_now = job.spec.suspend && context.world.pods.empty();
  if (!ref || !ref->gate || suspended_now || any_pod(context.slots, waits_at_data_gate)) {
    conditions.drop(condition_type::kDataWarm);
  }
}

}  // namespace

void set_conditions(const api::PaddleJob& job, const PlanContext& context,
                    api::PaddleJobStatus& status, WallTime now, const Config& config) {
  Conditions conditions(status.conditions, job.meta.generation, now);
  const std::string& phase = status.phase;
  if (!phase::is_final(job.status.phase)) {
    const auto interrupted = phase == phase::kRunning ? interruption(job, context) : std::nullopt;
    if (interrupted) {
      conditions.set(condition_type::kReady, false, *interrupted);
    } else if (phase == phase::kRunning && context.world.trouble) {
      conditions.set(condition_type::kReady, true, *context.world.trouble);
    } else if (phase == phase::kRunning) {
      conditions.set(condition_type::kReady, true, {reasons::kRunning, "all pods are running"});
    } else {
      conditions.set(condition_type::kReady, false, not_ready_reason(job, context, phase));
    }
    if (phase == phase::kCompleted) {
      conditions.set(condition_type::kComplete, true, context.decision.reason);
    }
    if (phase == phase::kFailed) {
      conditions.set(condition_type::kFailed, true, context.decision.reason);
    }
    if (phase == phase::kSuspended) {
      conditions.set(condition_type::kSuspended, true, suspended(context.world));
    } else if (conditions.has(condition_type::kSuspended)) {
      conditions.set(condition_type::kSuspended, false,
                     {reasons::kResumed, "the job has been resumed"});
    }
    set_update_pending(job, context, conditions);
    set_data_local(job, context, conditions);
    set_data_warm(job, context, conditions);
  } else {
    // No edit changes the end of a job: what was true of it is true of every later spec. `kubectl
    // wait` ignores conditions of an older generation.
    for (auto& condition : status.conditions) condition.observed_generation = job.meta.generation;
  }
  auto texts = spec_warnings(job, config, context.began_without_etcd);
  if (job.spec.scheduling_policy) {
    auto text = why_no_gang(job.spec, config.scheduling);
    if (!text.empty()) texts.push_back(std::move(text));
  }
  if (texts.empty()) return conditions.drop(condition_type::kWarning);
  std::string all;
  for (const auto& text : texts) all += (all.empty() ? "" : "; ") + text;
  conditions.set(condition_type::kWarning, true, {reasons::kCheckSpec, all});
}

}  // namespace paddle::controllers::paddle_job
