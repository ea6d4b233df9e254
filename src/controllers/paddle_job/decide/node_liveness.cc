// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/decide/node_liveness.h"

#include "controllers/paddle_job/decide/pod_facts.h"

namespace paddle::controllers::paddle_job {
namespace {

constexpr std::chrono::seconds kOverdue{10};
constexpr std::chrono::seconds kLeaseLasts{40};
// Twice the time between two renewals: a node that is heard of later may have been away.
constexpr std::chrono::seconds kInTime{20};
// By then the pods of a node that was away for less than kSilence have been reported again.
constexpr std::chrono::seconds kBackAgain = kSilence + std::chrono::seconds{30};

// A kubelet that has just started says so before it says what became of its pods.
constexpr std::chrono::seconds kTells{4};

}  // namespace

NodeCheck check_nodes(const ReplicaSlots& slots, const api::Pod& failed,
                      const std::map<std::string, NodeLease>& known, WallTime now) {
  NodeCheck decision;
  const auto since = ended_at(failed);
  if (!since) return decision;
  for (const GroupSlots& group : slots.groups) {
    for (const api::Pod* pod : group.pods) {
      if (!pod || ended(*pod) || pod->node.empty() || pod->node == failed.node) continue;
      const auto answer = known.find(pod->node);
      if (answer == known.end()) {
        decision.nodes_to_check.insert(pod->node);
        continue;
      }
      const auto& renewed = answer->second.renewed;
      if (!renewed) continue;
      if (*renewed > *since) {
        const bool just_now = *renewed > *since + kInTime || now < *renewed + kTells;
        const bool may_have_been_away = just_now && now < *since + kBackAgain;
        if (may_have_been_away) decision.nodes_to_check.insert(pod->node);
      } else if (now >= *since + kSilence) {
        decision.silent = pod->node;
      } else {
        decision.nodes_to_check.insert(pod->node);
      }
    }
  }
  if (!decision.nodes_to_check.empty()) decision.again_at = now + kAskAgain;
  return decision;
}

bool is_overdue(const api::Pod& pod, WallTime now) {
  return pod.meta.deleted && !pod.node.empty() && now >= *pod.meta.deleted + kOverdue;
}

bool lease_expired(const NodeLease& lease, WallTime now) {
  return lease.renewed && now >= *lease.renewed + kLeaseLasts;
}

}  // namespace paddle::controllers::paddle_job
