// SPDX-License-Identifier: Apache-2.0
//
// The start barrier: when every pod has an address, the ConfigMap with all addresses is written
// (objects/peer_config_map.h), and then the pods are released from their coordinators: servers
// first, workers when all servers run, heterogeneous trainers when all workers run. Pure.
//
// A kubelet can lose the refresh of a pod's downward-API file: a refresh that is requested while
// another one is in progress is dropped, and the coordinator would wait for the next periodic sync
// of the pod, a minute or more. So a pod that still coordinates a while after its release is
// released again; any change of the pod refreshes the file, and the stamp "<attempts> <time>" is
// one. The pauses double, so that a node that does not respond costs little.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controllers/paddle_job/actions.h"
#include "controllers/paddle_job/config.h"
#include "controllers/paddle_job/decide/plan_context.h"
#include "controllers/paddle_job/objects/peer_config_map.h"

namespace paddle::controllers::paddle_job {

inline constexpr std::chrono::seconds kFirstReleaseRetry{5};
inline constexpr std::chrono::seconds kLongestReleaseRetry{60};

struct BarrierActions {
  std::vector<Wave> waves{};
  std::optional<WallTime> due{};  // the next release again
};
BarrierActions release_pods(const api::PaddleJob& job, const PlanContext& context, WallTime now,
                            const Config& config);

// The addresses for the ConfigMap; complete only when without_address(slots) is 0.
Addresses addresses(const api::PaddleJob& job, const ReplicaSlots& slots);

// The ConfigMap of this epoch exists.
bool is_published(const api::PaddleJob& job, const World& world);
// Always, unless the ConfigMap does not exist and a pod that belongs into it has departed.
bool addresses_known(const api::PaddleJob& job, const ReplicaSlots& slots, const World& world);
// A pod has another address than the ConfigMap.
bool address_changed(const api::PaddleJob& job, const ReplicaSlots& slots, const World& world);

}  // namespace paddle::controllers::paddle_job
