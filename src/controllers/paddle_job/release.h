// SPDX-License-Identifier: Apache-2.0
//
// The rendezvous: once every pod has an address, the ConfigMap says so to all of them, and then
// their coordinators are let go: servers first, workers when all servers run, heterogeneous
// trainers when all workers do. Pure.

#pragma once

#include <vector>

#include "controllers/paddle_job/actions.h"
#include "controllers/paddle_job/progress.h"

namespace paddle::controllers {

std::vector<Wave> release(const api::PaddleJob& job, const Sight& sight, const Setting& setting);

}  // namespace paddle::controllers
