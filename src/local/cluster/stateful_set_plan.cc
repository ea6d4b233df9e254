// SPDX-License-Identifier: Apache-2.0
#include "local/cluster/stateful_set_plan.h"

#include <algorithm>
#include <map>

namespace paddle::local {
namespace {

bool ended(const MemberPod& member) {
  return member.pod.phase == api::PodPhase::kFailed ||
         member.pod.phase == api::PodPhase::kSucceeded;
}

bool ready(const MemberPod& member) {
  return member.pod.phase == api::PodPhase::kRunning && member.pod.all_ready() &&
         !member.pod.meta.deleting();
}

DeleteMember removal(const MemberPod& member, const char* why) {
  return {member.pod.meta.key, member.pod.meta.uid, why};
}

StatefulSetStatus observe(const StatefulSet& set, const std::vector<MemberPod>& pods) {
  const std::string revision = revision_of(set);
  StatefulSetStatus status{.observed_generation = set.meta.generation, .revision = revision};
  for (const MemberPod& member : pods) {
    ++status.replicas;
    if (ready(member)) ++status.ready;
    if (member.revision == revision) ++status.current;
  }
  return status;
}

// Pods by their ordinal; pods with any other name are surplus.
std::map<int, const MemberPod*> assign_indices(const StatefulSet& set,
                                               const std::vector<MemberPod>& pods,
                                               std::vector<const MemberPod*>& surplus) {
  std::map<std::string, const MemberPod*> by_name;
  for (const MemberPod& member : pods) by_name[member.pod.meta.key.name] = &member;
  std::map<int, const MemberPod*> assigned;
  for (int i = 0; i < set.replicas; ++i) {
    if (const auto found = by_name.find(member_name(set, i)); found != by_name.end()) {
      assigned[i] = found->second;
      by_name.erase(found);
    }
  }
  for (const auto& [name, member] : by_name) surplus.push_back(member);
  // Highest number first: longer names are higher.
  std::ranges::sort(surplus, [](const MemberPod* a, const MemberPod* b) {
    const std::string& x = a->pod.meta.key.name;
    const std::string& y = b->pod.meta.key.name;
    return x.size() != y.size() ? x.size() > y.size() : x > y;
  });
  return assigned;
}

}  // namespace

MemberPlan desired_members(const StatefulSet& set, const std::vector<MemberPod>& pods) {
  if (set.meta.deleting()) return {};  // owner references collect the pods
  MemberPlan plan;
  std::vector<const MemberPod*> surplus;
  const auto assigned = assign_indices(set, pods, surplus);
  const std::string revision = revision_of(set);

  bool all_ready = true;
  bool replacing = false;
  for (int i = 0; i < set.replicas; ++i) {
    const auto found = assigned.find(i);
    if (found == assigned.end()) {
      if (set.parallel || all_ready) plan.push_back(CreateMember{i});
      all_ready = false;
    } else if (!ready(*found->second)) {
      all_ready = false;
      if (ended(*found->second) && !found->second->pod.meta.deleting()) {
        plan.push_back(removal(*found->second, "it ended; it is replaced"));
        replacing = true;
      }
    }
  }
  const bool going = std::ranges::any_of(
      surplus, [](const MemberPod* member) { return member->pod.meta.deleting(); });
  for (const MemberPod* member : surplus) {
    if (member->pod.meta.deleting()) continue;
    if (!set.parallel && going) break;
    plan.push_back(removal(*member, "the set was scaled down"));
    if (!set.parallel) break;
  }
  if (!set.on_delete && !replacing) {
    for (auto member = assigned.rbegin(); member != assigned.rend(); ++member) {
      const MemberPod& pod = *member->second;
      if (pod.revision == revision) {
        if (!ready(pod)) break;  // the previous replacement is not ready yet
        continue;
      }
      if (!pod.pod.meta.deleting()) plan.push_back(removal(pod, "the template has changed"));
      break;
    }
  }
  if (const auto status = observe(set, pods); status != set.status) {
    plan.push_back(SetStatefulStatus{status});
  }
  return plan;
}

}  // namespace paddle::local
