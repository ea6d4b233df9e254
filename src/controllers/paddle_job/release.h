// SPDX-License-Identifier: Apache-2.0
//
// The rendezvous: once every pod has an address, the ConfigMap says so to all of them, and then
// their coordinators are let go: servers first, workers when all servers run, heterogeneous
// trainers when all workers do. Who does not hear it is told again (release_stamp.h). Pure.

#pragma once

#include <optional>
#include <vector>

#include "controllers/paddle_job/actions.h"
#include "controllers/paddle_job/progress.h"

namespace paddle::controllers {

struct Released {
  std::vector<Wave> waves{};
  std::optional<WallTime> again_at{};  // to see whether everybody heard it
};

Released release(const api::PaddleJob& job, const Sight& sight, WallTime now,
                 const Setting& setting);

}  // namespace paddle::controllers
