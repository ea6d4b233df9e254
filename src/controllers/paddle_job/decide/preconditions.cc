// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/decide/preconditions.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "controllers/paddle_job/decide/pods/pod_facts.h"
#include "controllers/paddle_job/objects/pod.h"
#include "controllers/paddle_job/reasons.h"
#include "controllers/paddle_job/spec/elastic.h"
#include "controllers/paddle_job/spec/validation.h"
#include "controllers/placement/data_gate.h"

namespace paddle::controllers::paddle_job {
namespace {

constexpr std::chrono::seconds kVolcanoInterval{30};
constexpr std::chrono::seconds kGateInterval{10};

void block(Preconditions& result, BlockReason reason) {
  result.may_create = false;
  if (!result.blocked) result.blocked = std::move(reason);
}

// The data gate now, for pods that wait at it or will.
struct GateState {
  bool any = false;  // a pod waits at the gate
  bool only = true;  // and no pod is beyond it
  placement::GateDecision decision{};
};

GateState gate_state(const api::PaddleJob& job, const PlanContext& context, WallTime now,
                     const Config& config) {
  placement::GateRequest request{.workers = replicas_of(job.spec, RoleKind::kWorker)};
  if (is_elastic(job.spec, config.etcd)) request.min_workers = elastic_range(job.spec).min;
  GateState found;
  for (const api::Pod* pod : assigned_pods(context.slots)) {
    if (!waits_at_data_gate(*pod)) {
      found.only = false;
      continue;
    }
    found.any = true;
    earliest(request.since, std::optional(pod->meta.created.value_or(now)));
  }
  found.decision = placement::decide_gate(*job.spec.sample_set, context.world.data, request, now);
  return found;
}

bool only_data_is_missing(const api::PaddleJob& job, const PlanContext& context, WallTime now,
                          const Config& config) {
  if (!job.spec.sample_set || !job.spec.sample_set->gate) return false;
  const GateState gate = gate_state(job, context, now, config);
  return gate.only && !gate.decision.open;
}

// The job as its gang is now: Volcano must not wait for members that have succeeded and departed.
api::PaddleJob without_departed(api::PaddleJob job, const ReplicaSlots& slots) {
  for (const GroupSlots& group : slots.groups) {
    if (api::Role* role = role_of(job.spec, group.spec)) role->replicas -= departed(group);
  }
  if (auto& policy = job.spec.scheduling_policy; policy && policy->min_available) {
    policy->min_available = std::min(*policy->min_available, total_replicas(job.spec));
  }
  return job;
}

Result<Wave> sync_pod_group(const api::PaddleJob& job, const std::optional<PodGroupSummary>& stored,
                            Reservation reservation) {
  Wave wave;
  if (!stored) {
    TRY(api::Json group, pod_group_for(job, reservation));
    wave.emplace_back(Create{OwnedKind::kPodGroup, job.meta.key, std::move(group)});
  } else if (auto patch = pod_group_patch(job, *stored, reservation); patch && *patch) {
    wave.emplace_back(Patch{OwnedKind::kPodGroup, job.meta.key, **patch});
  }
  return wave;
}

void require_gang(const api::PaddleJob& job, const PlanContext& context, WallTime now,
                  const Config& config, Preconditions& result) {
  if (config.scheduling.empty() || !uses_pod_group(job.spec, config.scheduling)) return;
  if (!context.world.pod_groups_known) {
    earliest(result.due, std::optional(now + kVolcanoInterval));
    return block(result, volcano_is_missing());
  }
  const auto& stored = context.world.pod_group;
  const auto reservation =
      only_data_is_missing(job, context, now, config) ? Reservation::kNone : Reservation::kAll;
  auto group = departed(context.slots) == 0
                   ? sync_pod_group(job, stored, reservation)
                   : sync_pod_group(without_departed(job, context.slots), stored, reservation);
  if (!group) return block(result, {reasons::kInvalidSpec, group.error().message});
  for (Action& action : *group) result.wave.push_back(std::move(action));
  // Only before the first pods, and the first after a suspension: later the scheduler keeps the
  // gang together.
  const bool resumed =
      api::find_condition(job.status.conditions, condition_type::kSuspended) != nullptr;
  if (!context.world.pods.empty() || (job.status.epoch > 0 && !resumed)) return;
  if (auto reason = pod_group_block_reason(job, stored)) block(result, std::move(*reason));
}

void remove_gates(const api::PaddleJob& job, const PlanContext& context, const Config& config,
                  Preconditions& result) {
  for (const GroupSlots& group : context.slots.groups) {
    for (size_t i = 0; i < group.pods.size(); ++i) {
      const api::Pod* pod = group.pods[i];
      if (!pod || !waits_at_data_gate(*pod)) continue;
      const auto spec =
          placed_spec(job, group.spec, static_cast<int>(i), context.world.data, config);
      const std::string runtime =
          group.spec.kind == RoleKind::kWorker
              ? placement::required_runtime(*job.spec.sample_set, context.world.data,
                                            group.spec.first.of_kind + static_cast<int>(i))
              : std::string();
      if (auto patch = placement::remove_gate_patch(pod->meta.uid, pod->gates, spec, runtime)) {
        result.wave.emplace_back(Patch{OwnedKind::kPod, pod->meta.key, std::move(*patch), true});
      }
    }
  }
}

void require_warm_data(const api::PaddleJob& job, const PlanContext& context, WallTime now,
                       const Config& config, Preconditions& result) {
  const GateState gate = gate_state(job, context, now, config);
  if (!gate.any) return;
  const placement::GateDecision& decision = gate.decision;
  if (decision.open) {
    if (decision.reason.blocks()) result.cold = decision.reason;
    return remove_gates(job, context, config, result);
  }
  if (!result.blocked) result.blocked = decision.reason;
  const auto pause = std::min(decision.retry_after.value_or(kGateInterval), kGateInterval);
  earliest(result.due, std::optional(now + pause));
}

void require_data(const api::PaddleJob& job, const PlanContext& context, WallTime now,
                  const Config& config, Preconditions& result) {
  if (!job.spec.sample_set) return;
  const auto& ref = *job.spec.sample_set;
  if (context.world.pods.empty()) {
    if (auto error = mount_error(job)) return block(result, std::move(*error));
    auto reason = placement::data_block_reason(job.meta.key, ref, context.world.data);
    if (reason) return block(result, std::move(*reason));
  }
  if (ref.gate) require_warm_data(job, context, now, config, result);
}

}  // namespace

Preconditions check_preconditions(const api::PaddleJob& job, const PlanContext& context,
                                  WallTime now, const Config& config) {
  Preconditions result;
  require_data(job, context, now, config, result);
  // The gang reserves resources only when its SampleSet exists. Pods with a data gate need the
  // group before them: the admission webhook of some Volcano versions rejects pods without one.
  if (result.may_create) require_gang(job, context, now, config, result);
  return result;
}

}  // namespace paddle::controllers::paddle_job
