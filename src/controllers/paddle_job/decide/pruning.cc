// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/decide/pruning.h"

#include <algorithm>

#include "controllers/paddle_job/decide/node_liveness.h"
#include "controllers/paddle_job/decide/pod_facts.h"
#include "controllers/paddle_job/objects/peer_config_map.h"
#include "controllers/paddle_job/owner.h"
#include "controllers/placement/placement.h"
#include "controllers/plan/plan.h"

namespace paddle::controllers::paddle_job {
namespace {

// A pod that its node refuses again and again is made again at this pace.
constexpr std::chrono::seconds kLeastLife{10};
constexpr std::chrono::seconds kLookAtOverdue{5};

std::set<std::string> slot_names(const api::PaddleJob& job, const ReplicaSlots& slots) {
  std::set<std::string> names;
  for (const GroupSlots& group : slots.groups) {
    for (int i = 0; i < group.spec.replicas; ++i) names.insert(pod_name(job, group.spec, i));
  }
  return names;
}

void prune_services(const api::PaddleJob& job, const PlanContext& context, Wave& wave) {
  if (context.world.services.empty()) return;
  const auto wanted =
      by_service(job.spec) ? slot_names(job, context.slots) : std::set<std::string>{};
  std::vector<Delete> deletions;
  for (const ServiceSummary& service : context.world.services) {
    if (wanted.contains(service.meta.key.name) || service.meta.deleting()) continue;
    deletions.push_back({OwnedKind::kService, service.meta.key, service.meta.uid});
  }
  std::ranges::sort(deletions, {}, &Delete::key);
  for (Delete& one : deletions) wave.emplace_back(std::move(one));
}

// The kubelet that would confirm the end of this pod is gone: then nobody else will.
void force_overdue(const api::Pod& pod, const World& world, WallTime now, PruneResult& pruned) {
  if (!is_overdue(pod, now)) {
    if (pod.meta.deleted && *pod.meta.deleted != kSoonGone && !pod.node.empty()) {
      earliest(pruned.again_at, std::optional(*pod.meta.deleted + kLookAtOverdue * 3));
    }
    return;
  }
  const auto lease = world.node_leases.find(pod.node);
  if (lease == world.node_leases.end()) {
    pruned.nodes_to_check.insert(pod.node);
  } else if (lease_expired(lease->second, now) || (pod.disrupted && !lease->second.renewed)) {
    pruned.wave.emplace_back(delete_pod(pod, true));
  } else {
    earliest(pruned.again_at, std::optional(now + kLookAtOverdue));
  }
}

}  // namespace

Delete delete_pod(const api::Pod& pod, bool force) {
  return {OwnedKind::kPod, pod.meta.key, pod.meta.uid, force};
}

std::optional<Delete> delete_pod_group(const api::PaddleJob& job, const World& world) {
  const auto& group = world.pod_group;
  if (!group || !belongs_to(group->meta, job) || group->meta.deleting()) return std::nullopt;
  return Delete{OwnedKind::kPodGroup, job.meta.key, group->meta.uid};
}

std::vector<const api::Pod*> assigned_pods(const ReplicaSlots& slots) {
  std::vector<const api::Pod*> pods;
  for (const GroupSlots& group : slots.groups) {
    for (const api::Pod* pod : group.pods) {
      if (pod) pods.push_back(pod);
    }
  }
  return pods;
}

PruneResult prune(const api::PaddleJob& job, const PlanContext& context, WallTime now,
                  const Config& config) {
  PruneResult pruned;
  const ReplicaSlots& slots = context.slots;
  for (const auto* list : {&slots.old, &slots.surplus}) {
    for (const api::Pod* pod : *list) {
      if (!pod->meta.deleting()) {
        pruned.wave.emplace_back(delete_pod(*pod));
      } else {
        force_overdue(*pod, context.world, now, pruned);
      }
    }
  }
  const bool one_by_one = replaces_single_pods(job, slots, context.world, config);
  for (const api::Pod* pod : assigned_pods(slots)) {
    if (pod->meta.deleting()) {
      force_overdue(*pod, context.world, now, pruned);
    } else if (one_by_one && failed_by_disruption(*pod)) {
      const auto due = pod->meta.created.value_or(WallTime{}) + kLeastLife;
      if (now >= due) pruned.wave.emplace_back(delete_pod(*pod));
      if (now < due) earliest(pruned.again_at, std::optional(due));
    } else if (placement::has_lost_its_partition(*pod, context.world.data)) {
      pruned.wave.emplace_back(delete_pod(*pod));
    }
  }
  prune_services(job, context, pruned.wave);
  return pruned;
}

}  // namespace paddle::controllers::paddle_job
