// SPDX-License-Identifier: Apache-2.0
//
// The rendezvous: once every pod has an address, the ConfigMap says so to all of them, and then
// their coordinators are let go: servers first, workers when all servers run, heterogeneous
// trainers when all workers do. Who does not hear it is told again (release_stamp.h). Pure.

#pragma once

#include <optional>
#include <vector>

#include "controllers/paddle_job/actions.h"
#include "controllers/paddle_job/decide/status.h"

namespace paddle::controllers::paddle_job {

struct BarrierActions {
  std::vector<Wave> waves{};
  std::optional<WallTime> again_at{};  // to see whether everybody heard it
};

BarrierActions release(const api::PaddleJob& job, const PlanContext& context, WallTime now,
                       const Config& config);

}  // namespace paddle::controllers::paddle_job
