// SPDX-License-Identifier: Apache-2.0
//
// What has to go: pods of earlier epochs and without a seat, pods that their node gave up, Services
// of no pod. Pure.

#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controllers/paddle_job/actions.h"
#include "controllers/paddle_job/decide/status.h"

namespace paddle::controllers::paddle_job {

struct PruneResult {
  Wave wave{};
  std::set<std::string> nodes_to_check{};  // nodes of pods that should be gone by now
  std::optional<WallTime> again_at{};
};
PruneResult prune(const api::PaddleJob& job, const PlanContext& context, WallTime now,
                  const Config& config);

Delete delete_pod(const api::Pod& pod, bool force = false);
// Nothing when there is none, or it is somebody else's.
std::optional<Delete> delete_pod_group(const api::PaddleJob& job, const World& world);
std::vector<const api::Pod*> assigned_pods(const ReplicaSlots& slots);

}  // namespace paddle::controllers::paddle_job
