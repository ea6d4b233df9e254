// SPDX-License-Identifier: Apache-2.0
//
// Did a node die with its pods? Its peers' programs notice within seconds, Kubernetes only after
// most of a minute. So before a program is blamed, every node that still holds a live pod of the
// job has to show a sign of life after the program's end: a renewal of its kubelet's lease, which
// comes every ten seconds. A node that shows none for kSilence is taken for lost. It may also have
// been switched off and on again: its pod gets a few seconds to be reported as lost, more when the
// sign comes late. Pure.

#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "api/core/pod.h"
#include "base/clock.h"
#include "controllers/paddle_job/decide/replica_slots.h"
#include "controllers/paddle_job/world.h"

namespace paddle::controllers::paddle_job {

inline constexpr std::chrono::seconds kSilence{60};
inline constexpr std::chrono::seconds kAskAgain{2};

struct NodeCheck {
  std::set<std::string> nodes_to_check{};  // not settled: ask these, at `again_at` once more
  std::optional<WallTime> again_at{};
  std::string silent{};  // a node that is taken for lost
};

// `known`: what was answered so far. A node without a lease can not be judged and is not blamed.
NodeCheck check_nodes(const ReplicaSlots& slots, const api::Pod& failed,
                      const std::map<std::string, NodeLease>& known, WallTime now);

// The pod should have been gone for a while, and its node is not heard of: nobody will confirm its
// end. Such a pod is deleted without waiting for the kubelet.
bool is_overdue(const api::Pod& pod, WallTime now);
bool lease_expired(const NodeLease& lease, WallTime now);

}  // namespace paddle::controllers::paddle_job
