// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/decide/owned_objects.h"

#include <algorithm>
#include <vector>

#include <nlohmann/json.hpp>

#include "api/phases.h"
#include "controllers/paddle_job/decide/pods/node_liveness.h"
#include "controllers/paddle_job/decide/pods/pod_facts.h"
#include "controllers/paddle_job/names.h"
#include "controllers/paddle_job/objects/pod.h"

namespace paddle::controllers::paddle_job {
namespace {

namespace phase = api::paddle_job_phase;

// A pod that its node rejects again and again is created again at this interval.
constexpr std::chrono::seconds kMinPodLifetime{10};
constexpr std::chrono::seconds kOverdueInterval{5};

std::set<std::string> slot_names(const api::PaddleJob& job, const ReplicaSlots& slots) {
  std::set<std::string> names;
  for (const GroupSlots& group : slots.groups) {
    for (int i = 0; i < group.spec.replicas; ++i) names.insert(pod_name(job, group.spec, i));
  }
  return names;
}

// A pod that is being deleted: when its kubelet does not respond any more, it is deleted by force.
void prune_deleting(const api::Pod& pod, const World& world, WallTime now, PruneResult& result) {
  if (!is_overdue(pod, now)) {
    if (pod.meta.deleted && *pod.meta.deleted != kSoonGone && !pod.node.empty()) {
      earliest(result.due, std::optional(*pod.meta.deleted + kOverdueInterval * 3));
    }
    return;
  }
  const auto lease = world.node_leases.find(pod.node);
  if (lease == world.node_leases.end()) {
    result.unread_leases.insert(pod.node);
  } else if (lease_expired(lease->second, now) || (pod.disrupted && !lease->second.renewed)) {
    result.wave.emplace_back(delete_pod(pod, true));
  } else {
    earliest(result.due, std::optional(now + kOverdueInterval));
  }
}

}  // namespace

Wave create_missing(const api::PaddleJob& job, const PlanContext& context, const Config& config) {
  std::set<std::string> services;
  for (const ServiceSummary& service : context.world.services) {
    services.insert(service.meta.key.name);
  }
  Wave wave;
  for (const GroupSlots& group : context.slots.groups) {
    for (int i = 0; i < group.spec.replicas; ++i) {
      const api::ObjectKey key{job.meta.key.ns, pod_name(job, group.spec, i)};
      if (uses_services(job.spec) && !services.contains(key.name)) {
        wave.emplace_back(Create{OwnedKind::kService, key, service_for(job, group.spec, i)});
      }
      if (group.done[static_cast<size_t>(i)]) continue;
      if (context.slots.names_in_use.contains(key.name)) continue;
      wave.emplace_back(
          Create{OwnedKind::kPod, key, pod_for(job, group.spec, i, context.world.data, config)});
    }
  }
  return wave;
}

bool needs_confirmation(const api::PaddleJob& job, const PlanContext& context) {
  if (context.world.confirmed) return false;
  // The phase may be written a little later than the pods are released.
  return job.status.phase == phase::kRunning || job.status.phase == phase::kStarting ||
         has_begun(job, context.slots, context.world);
}

PruneResult prune(const api::PaddleJob& job, const PlanContext& context, WallTime now,
                  const Config& config) {
  PruneResult result;
  const ReplicaSlots& slots = context.slots;
  for (const auto* list : {&slots.old, &slots.surplus}) {
    for (const api::Pod* pod : *list) {
      if (!pod->meta.deleting()) {
        result.wave.emplace_back(delete_pod(*pod));
      } else {
        prune_deleting(*pod, context.world, now, result);
      }
    }
  }
  const bool single_pods = replaces_single_pods(job, slots, context.world, config);
  for (const api::Pod* pod : assigned_pods(slots)) {
    if (pod->meta.deleting()) {
      prune_deleting(*pod, context.world, now, result);
    } else if (single_pods && failed_by_disruption(*pod)) {
      const WallTime due = pod->meta.created.value_or(WallTime{}) + kMinPodLifetime;
      if (now >= due) result.wave.emplace_back(delete_pod(*pod));
      if (now < due) earliest(result.due, std::optional(due));
    } else if (placement::has_lost_its_partition(*pod, context.world.data)) {
      result.wave.emplace_back(delete_pod(*pod));
    }
  }
  return result;
}

Wave surplus_services(const api::PaddleJob& job, const PlanContext& context, bool may_create) {
  Wave wave;
  // Programs that are ending may still use what the job will not have any more.
  if (context.world.services.empty() || (!may_create && !context.world.pods.empty())) return wave;
  const auto wanted = may_create && uses_services(job.spec) ? slot_names(job, context.slots)
                                                            : std::set<std::string>{};
  std::vector<Delete> deletions;
  for (const ServiceSummary& service : context.world.services) {
    if (wanted.contains(service.meta.key.name) || service.meta.deleting()) continue;
    deletions.push_back({OwnedKind::kService, service.meta.key, service.meta.uid});
  }
  std::ranges::sort(deletions, {}, &Delete::key);
  for (Delete& one : deletions) wave.emplace_back(std::move(one));
  return wave;
}

Delete delete_pod(const api::Pod& pod, bool force) {
  return {OwnedKind::kPod, pod.meta.key, pod.meta.uid, force};
}

std::optional<Delete> delete_pod_group(const api::PaddleJob& job, const World& world) {
  const auto& group = world.pod_group;
  if (!group || !belongs_to(group->meta, job) || group->meta.deleting()) return std::nullopt;
  return Delete{OwnedKind::kPodGroup, job.meta.key, group->meta.uid};
}

}  // namespace paddle::controllers::paddle_job
