// SPDX-License-Identifier: Apache-2.0
//
// Reconciles one SampleSet: observe (observe/world_observer.h), plan (plan.h), execute
// (execute/plan_executor.h).

#pragma once

#include <string>

#include "controllers/loop/manager.h"
#include "controllers/loop/reconcile_result.h"
#include "controllers/sample_set/config.h"
#include "runtime/runtime_polls.h"
#include "runtime/runtime_secret.h"
#include "runtime/runtime_sends.h"

namespace paddle::controllers::sample_set {

inline constexpr const char* kControllerName = "SampleSet";  // in events and metrics
inline constexpr const char* kLeaseName = "37987177.paddlepaddle.org";

struct Options {
  std::string ns{};  // empty: all namespaces
  Config config{};
  runtime::RuntimePolls polls{};
  runtime::RuntimeSends sends{};             // jobs and cancellations
  runtime::RuntimeSecretOptions identity{};  // of the runtimes
};

// Connects the informers to the queue and returns the reconcile function.
Reconcile make_reconciler(const ControllerContext& context, const Options& options,
                          const Clock& clock);

}  // namespace paddle::controllers::sample_set
