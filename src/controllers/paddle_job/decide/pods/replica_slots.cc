// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/decide/pods/replica_slots.h"

#include <algorithm>
#include <map>

#include "controllers/paddle_job/decide/pods/pod_facts.h"

namespace paddle::controllers::paddle_job {
namespace {

using api::PodPhase;

api::ObjectReference reference(const api::Pod& pod) {
  return {.api_version = "v1",
          .kind = "Pod",
          .ns = pod.meta.key.ns,
          .name = pod.meta.key.name,
          .uid = pod.meta.uid};
}

void add(const api::Pod& pod, api::RoleStatus& status) {
  switch (pod.phase) {
    case PodPhase::kPending:
      ++(coordinating(pod) ? status.starting : status.pending);
      break;
    case PodPhase::kRunning:
      ++(pod.all_ready() ? status.running : status.starting);
      break;
    case PodPhase::kSucceeded:
      ++status.succeeded;
      break;
    case PodPhase::kFailed:
      ++status.failed;
      break;
    case PodPhase::kUnknown:
      ++status.unknown;
      break;
  }
}

template <typename Each>
void each_slot(const ReplicaSlots& slots, Each each) {
  for (const GroupSlots& group : slots.groups) {
    for (size_t i = 0; i < group.pods.size(); ++i) each(group.pods[i], group.done[i]);
  }
}

bool succeeded(const api::Pod& pod) { return pod.phase == PodPhase::kSucceeded; }

std::vector<bool> done_of(const ReplicaGroup& group, const CompletedIndexes& completed,
                          std::int64_t epoch) {
  const auto found = completed.groups.find(group.name);
  const bool any = found != completed.groups.end() && completed.epoch == epoch;
  return parse_indexes(any ? std::string_view(found->second) : std::string_view(), group.replicas);
}

}  // namespace

ReplicaSlots assign_pods(const api::PaddleJob& job, const std::vector<PodPtr>& pods,
                         const CompletedIndexes& last_completed) {
  ReplicaSlots slots;
  std::map<std::string, const api::Pod*> present;
  for (const PodPtr& pod : pods) {
    const auto& name = pod->meta.key.name;
    slots.names_in_use.insert(name);
    const std::int64_t epoch = epoch_of(pod->meta);
    if (epoch > job.status.epoch) slots.has_newer_epoch = true;
    if (epoch < job.status.epoch) {
      slots.old.push_back(pod.get());
    } else {
      present[name] = pod.get();
    }
  }
  const CompletedIndexes stored = completed_indexes_of(job.status);
  for (ReplicaGroup& group : replica_groups(job.spec)) {
    GroupSlots& result = slots.groups.emplace_back();
    result.done = done_of(group, stored, job.status.epoch);
    const std::vector<bool> last_done = done_of(group, last_completed, job.status.epoch);
    for (int index = 0; index < group.replicas; ++index) {
      const auto i = static_cast<size_t>(index);
      const auto assigned = present.extract(pod_name(job, group, index));
      const api::Pod* pod = assigned ? assigned.mapped() : nullptr;
      // A pod that has succeeded does not run again: what the informer shows is outdated.
      if (pod && (result.done[i] || last_done[i]) && !succeeded(*pod)) pod = nullptr;
      if (!result.done[i] && last_done[i] && !pod) slots.has_unrecorded_success = true;
      if (last_done[i] || (pod && succeeded(*pod) && !pod->meta.deleting())) result.done[i] = true;
      result.pods.push_back(pod);
    }
    result.spec = std::move(group);
  }
  for (const auto& [name, pod] : present) slots.surplus.push_back(pod);
  std::ranges::sort(slots.old, {}, [](const api::Pod* pod) { return pod->meta.key; });
  return slots;
}

int slot_count(const ReplicaSlots& slots) {
  int all = 0;
  each_slot(slots, [&](const api::Pod*, bool) { ++all; });
  return all;
}

std::vector<const api::Pod*> pods_of(const ReplicaSlots& slots, RoleKind kind) {
  std::vector<const api::Pod*> all;
  for (const GroupSlots& group : slots.groups) {
    if (group.spec.kind == kind) all.insert(all.end(), group.pods.begin(), group.pods.end());
  }
  return all;
}

std::vector<const api::Pod*> assigned_pods(const ReplicaSlots& slots) {
  std::vector<const api::Pod*> pods;
  each_slot(slots, [&](const api::Pod* pod, bool) {
    if (pod) pods.push_back(pod);
  });
  return pods;
}

int empty_slots(const ReplicaSlots& slots) {
  int empty = 0;
  each_slot(slots, [&](const api::Pod* pod, bool done) { empty += pod || done ? 0 : 1; });
  return empty;
}

int without_address(const ReplicaSlots& slots) {
  int without = 0;
  each_slot(slots, [&](const api::Pod* pod, bool done) {
    without += !done && (!pod || pod->ip.empty() || pod->meta.deleting()) ? 1 : 0;
  });
  return without;
}

int departed(const GroupSlots& group) {
  int count = 0;
  for (size_t i = 0; i < group.pods.size(); ++i) count += group.done[i] && !group.pods[i] ? 1 : 0;
  return count;
}

int departed(const ReplicaSlots& slots) {
  int all = 0;
  for (const GroupSlots& group : slots.groups) all += departed(group);
  return all;
}

bool any_done(const ReplicaSlots& slots) {
  bool found = false;
  each_slot(slots, [&](const api::Pod*, bool done) { found = found || done; });
  return found;
}

bool any_pod(const ReplicaSlots& slots, const PodTest& test) {
  bool found = false;
  each_slot(slots, [&](const api::Pod* pod, bool) { found = found || (pod && test(*pod)); });
  return found;
}

bool every_slot(const ReplicaSlots& slots, const PodTest& test) {
  return std::ranges::all_of(slots.groups,
                             [&](const GroupSlots& group) { return every_slot(group, test); });
}

bool every_slot(const GroupSlots& group, const PodTest& test) {
  for (size_t i = 0; i < group.pods.size(); ++i) {
    if (!group.done[i] && !(group.pods[i] && test(*group.pods[i]))) return false;
  }
  return true;
}

api::RoleStatus count(const GroupSlots& group) {
  api::RoleStatus status;
  for (const api::Pod* pod : group.pods) {
    if (!pod) continue;
    status.refs.push_back(reference(*pod));
    add(*pod, status);
    status.restarts += container_restarts(*pod);
  }
  status.succeeded += departed(group);
  status.completed_indexes = format_indexes(group.done);
  return status;
}

bool work_done(const api::PaddleJobSpec& spec, const ReplicaSlots& slots) {
  std::vector<bool> workers;
  std::vector<bool> all;
  for (const GroupSlots& group : slots.groups) {
    all.insert(all.end(), group.done.begin(), group.done.end());
    if (group.spec.kind != RoleKind::kWorker) continue;
    workers.insert(workers.end(), group.done.begin(), group.done.end());
  }
  const std::vector<bool>& done = workers.empty() ? all : workers;
  if (done.empty()) return false;
  if (spec.success_policy == "Chief") return done.front();
  const bool any = std::find(done.begin(), done.end(), true) != done.end();
  if (spec.success_policy == "Any") return any;
  return std::find(done.begin(), done.end(), false) == done.end();
}

}  // namespace paddle::controllers::paddle_job
