// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/decide/pods/node_liveness.h"

#include "controllers/paddle_job/decide/pods/pod_facts.h"

namespace paddle::controllers::paddle_job {
namespace {

constexpr std::chrono::seconds kOverdue{10};
constexpr std::chrono::seconds kLeaseDuration{40};
// Twice the interval of renewals: a node that renews later may have been down.
constexpr std::chrono::seconds kRenewalInTime{20};
// By then the pods of a node that was down for less than kNodeSilence have been reported again.
constexpr std::chrono::seconds kNodeReported = kNodeSilence + std::chrono::seconds{30};
// A kubelet that has just started renews its lease before it reports its pods.
constexpr std::chrono::seconds kPodsReported{4};

// Whether it is clear that the node has been up since `since`, or that it is lost.
enum class NodeState { kUp, kUnclear, kLost };

NodeState state_of(const NodeLease& lease, WallTime since, WallTime now) {
  if (!lease.renewed) return NodeState::kUp;
  const WallTime renewed = *lease.renewed;
  if (renewed <= since) return now >= since + kNodeSilence ? NodeState::kLost : NodeState::kUnclear;
  const bool just_now = renewed > since + kRenewalInTime || now < renewed + kPodsReported;
  return just_now && now < since + kNodeReported ? NodeState::kUnclear : NodeState::kUp;
}

}  // namespace

NodeCheck check_nodes(const ReplicaSlots& slots, const api::Pod& failed,
                      const std::map<std::string, NodeLease>& leases, WallTime now) {
  NodeCheck check;
  const auto since = ended_at(failed);
  if (!since) return check;
  bool settled = true;
  for (const api::Pod* pod : assigned_pods(slots)) {
    if (ended(*pod) || pod->node.empty() || pod->node == failed.node) continue;
    const auto lease = leases.find(pod->node);
    if (lease == leases.end()) {
      check.unread.insert(pod->node);
      settled = false;
      continue;
    }
    const NodeState state = state_of(lease->second, *since, now);
    if (state == NodeState::kLost) check.lost = pod->node;
    if (state == NodeState::kUnclear) settled = false;
  }
  if (!settled) check.due = now + kNodeCheckInterval;
  return check;
}

bool is_overdue(const api::Pod& pod, WallTime now) {
  return pod.meta.deleted && !pod.node.empty() && now >= *pod.meta.deleted + kOverdue;
}

bool lease_expired(const NodeLease& lease, WallTime now) {
  return lease.renewed && now >= *lease.renewed + kLeaseDuration;
}

}  // namespace paddle::controllers::paddle_job
