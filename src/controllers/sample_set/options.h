// SPDX-License-Identifier: Apache-2.0
//
// What the controller of SampleSets is told at its start.

#pragma once

#include <string>

#include "controllers/sample_set/plan.h"
#include "controllers/sample_set/runtimes.h"
#include "runtime/runtime_secret.h"

namespace paddle::controllers {

struct SampleSetOptions {
  std::string ns{};  // empty: all namespaces
  sample_sets::Setting setting{};
  runtime::RuntimeClientFactory runtime_at{};
  runtime::RuntimeSecretOptions identity{};  // of runtimes
};

}  // namespace paddle::controllers
