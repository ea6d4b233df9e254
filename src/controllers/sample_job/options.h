// SPDX-License-Identifier: Apache-2.0
//
// What the controller of SampleJobs is told once.

#pragma once

#include <string>

#include "controllers/sample_job/runtimes.h"
#include "engine/manifests.h"

namespace paddle::controllers::sample_jobs {

struct SampleJobOptions {
  std::string ns{};  // empty: all namespaces
  engine::OperatorFaces engines{};
  RuntimeAt runtime_at{};
};

}  // namespace paddle::controllers::sample_jobs
