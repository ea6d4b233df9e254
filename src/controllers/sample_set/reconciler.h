// SPDX-License-Identifier: Apache-2.0
//
// Drives one SampleSet towards its spec: read, ask the runtimes, decide, act. All the thinking is
// in plan.h.

#pragma once

#include "controllers/loop/ending.h"
#include "controllers/loop/manager.h"
#include "controllers/sample_set/plan.h"
#include "controllers/sample_set/runtimes.h"

namespace paddle::controllers {

struct SampleSetOptions {
  std::string ns{};  // empty: all namespaces
  sample_sets::Setting setting{};
  sample_sets::RuntimeAt runtime_at{};
};

inline constexpr const char* kSampleSetController = "SampleSet";  // as events have always named it
inline constexpr const char* kSampleSetLease = "37987177.paddlepaddle.org";

// Connects the informers it needs to the queue and returns the reconcile function.
Reconcile make_sample_set_reconciler(const Surroundings& around, const SampleSetOptions& options,
                                     const Clock& clock);

}  // namespace paddle::controllers
