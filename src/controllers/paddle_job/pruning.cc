// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/pruning.h"

#include <algorithm>

#include "controllers/paddle_job/node_life.h"
#include "controllers/paddle_job/owner.h"
#include "controllers/paddle_job/pod_facts.h"
#include "controllers/paddle_job/rendezvous.h"
#include "controllers/paddle_job/soonest.h"
#include "controllers/placement/placement.h"

namespace paddle::controllers {
namespace {

// A pod that its node refuses again and again is made again at this pace.
constexpr std::chrono::seconds kLeastLife{10};
constexpr std::chrono::seconds kLookAtOverdue{5};

std::set<std::string> seat_names(const api::PaddleJob& job, const Roster& roster) {
  std::set<std::string> names;
  for (const Bench& bench : roster.benches) {
    for (int i = 0; i < bench.part.replicas; ++i) names.insert(pod_name(job, bench.part, i));
  }
  return names;
}

void prune_services(const api::PaddleJob& job, const Sight& sight, Wave& wave) {
  if (sight.world.services.empty()) return;
  const auto wanted =
      by_service(job.spec) ? seat_names(job, sight.roster) : std::set<std::string>{};
  std::vector<Delete> doomed;
  for (const ServiceSeen& service : sight.world.services) {
    if (wanted.contains(service.meta.key.name) || service.meta.deleting()) continue;
    doomed.push_back({Child::kService, service.meta.key, service.meta.uid});
  }
  std::ranges::sort(doomed, {}, &Delete::key);
  for (Delete& one : doomed) wave.emplace_back(std::move(one));
}

// The kubelet that would confirm the end of this pod is gone: then nobody else will.
void hurry(const api::Pod& pod, const World& world, WallTime now, Pruned& pruned) {
  if (!overdue(pod, now)) {
    if (pod.meta.deleted && *pod.meta.deleted != kSoonGone && !pod.node.empty()) {
      soonest(pruned.again_at, *pod.meta.deleted + kLookAtOverdue * 3);
    }
    return;
  }
  const auto life = world.nodes.find(pod.node);
  if (life == world.nodes.end()) {
    pruned.ask_about.insert(pod.node);
  } else if (is_silent(life->second, now) || (pod.disrupted && !life->second.renewed)) {
    pruned.wave.emplace_back(delete_pod(pod, true));
  } else {
    soonest(pruned.again_at, now + kLookAtOverdue);
  }
}

}  // namespace

Delete delete_pod(const api::Pod& pod, bool at_once) {
  return {Child::kPod, pod.meta.key, pod.meta.uid, at_once};
}

std::optional<Delete> delete_pod_group(const api::PaddleJob& job, const World& world) {
  const auto& group = world.pod_group;
  if (!group || !belongs_to(group->meta, job) || group->meta.deleting()) return std::nullopt;
  return Delete{Child::kPodGroup, job.meta.key, group->meta.uid};
}

std::vector<const api::Pod*> all_seated(const Roster& roster) {
  std::vector<const api::Pod*> pods;
  for (const Bench& bench : roster.benches) {
    for (const api::Pod* pod : bench.seats) {
      if (pod) pods.push_back(pod);
    }
  }
  return pods;
}

Pruned prune(const api::PaddleJob& job, const Sight& sight, WallTime now, const Setting& setting) {
  Pruned pruned;
  const Roster& roster = sight.roster;
  for (const auto* list : {&roster.old, &roster.surplus}) {
    for (const api::Pod* pod : *list) {
      if (!pod->meta.deleting()) {
        pruned.wave.emplace_back(delete_pod(*pod));
      } else {
        hurry(*pod, sight.world, now, pruned);
      }
    }
  }
  const bool one_by_one = replaces_one_by_one(job, roster, sight.world, setting);
  for (const api::Pod* pod : all_seated(roster)) {
    if (pod->meta.deleting()) {
      hurry(*pod, sight.world, now, pruned);
    } else if (one_by_one && failed_by_disruption(*pod)) {
      const auto due = pod->meta.created.value_or(WallTime{}) + kLeastLife;
      if (now >= due) pruned.wave.emplace_back(delete_pod(*pod));
      if (now < due) soonest(pruned.again_at, due);
    } else if (waits_in_vain(*pod, sight.world.data)) {
      pruned.wave.emplace_back(delete_pod(*pod));
    }
  }
  prune_services(job, sight, pruned.wave);
  return pruned;
}

}  // namespace paddle::controllers
