// SPDX-License-Identifier: Apache-2.0
//
// Whether a node died together with its pods. The programs of the other pods fail within seconds;
// Kubernetes reports the node after most of a minute. So before a failure is counted against the
// program, every other node with a live pod of the job has to renew its lease after the program's
// end; kubelets renew every ten seconds. A node that does not renew for kNodeSilence counts as
// lost. A node may also have rebooted: its pod gets a few seconds to be reported as lost, more when
// the renewal comes late. Pure.

#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "api/core/pod.h"
#include "base/clock.h"
#include "controllers/paddle_job/decide/pods/replica_slots.h"
#include "controllers/paddle_job/world.h"

namespace paddle::controllers::paddle_job {

inline constexpr std::chrono::seconds kNodeSilence{60};
inline constexpr std::chrono::seconds kNodeCheckInterval{2};

struct NodeCheck {
  std::optional<WallTime> due{};   // not settled yet: check again at this time
  std::set<std::string> unread{};  // leases that have to be read first
  std::string lost{};              // a node that counts as lost
};

// A node without a lease cannot be checked and does not count as lost.
NodeCheck check_nodes(const ReplicaSlots& slots, const api::Pod& failed,
                      const std::map<std::string, NodeLease>& leases, WallTime now);

// The pod should have been gone for a while. When its node is silent, no kubelet will confirm its
// end, and it is deleted with grace period 0.
bool is_overdue(const api::Pod& pod, WallTime now);
bool lease_expired(const NodeLease& lease, WallTime now);

}  // namespace paddle::controllers::paddle_job
