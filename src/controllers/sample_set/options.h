// SPDX-License-Identifier: Apache-2.0
//
// What the controller of SampleSets is told at its start.

#pragma once

#include <string>

#include "controllers/sample_set/observe/runtime_poller.h"
#include "controllers/sample_set/plan.h"
#include "runtime/identity.h"

namespace paddle::controllers::sample_set {

struct Options {
  std::string ns{};  // empty: all namespaces
  Config config{};
  runtime::RuntimeClientFactory runtime_at{};
  runtime::IdentityOptions identity{};  // of runtimes
};

}  // namespace paddle::controllers::sample_set
