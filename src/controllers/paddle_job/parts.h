// SPDX-License-Identifier: Apache-2.0
//
// The parts of a job in the order in which lists and starts go: ps, worker, heter. Pure.

#pragma once

#include <string>
#include <vector>

#include "api/paddle_job.h"
#include "controllers/paddle_job/names.h"

namespace paddle::controllers {

struct Part {
  RoleKind kind = RoleKind::kWorker;
  int replicas = 0;
  api::Opaque pod_template{};
};

// Those that the spec names, also with no replicas.
std::vector<Part> parts_of(const api::PaddleJobSpec& spec);

}  // namespace paddle::controllers
