// SPDX-License-Identifier: Apache-2.0
//
// What the controller of SampleJobs is told once.

#pragma once

#include <string>

#include "engine/manifests.h"
#include "runtime/runtime_client.h"

namespace paddle::controllers::sample_job {

struct Options {
  std::string ns{};  // empty: all namespaces
  engine::ManifestBuilders engines{};
  runtime::RuntimeClientFactory runtime_at{};
};

}  // namespace paddle::controllers::sample_job
