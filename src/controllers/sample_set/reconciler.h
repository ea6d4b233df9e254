// SPDX-License-Identifier: Apache-2.0
//
// Drives one SampleSet towards its spec: read (view.h), decide (plan.h), act (hand.h).

#pragma once

#include "controllers/loop/manager.h"
#include "controllers/loop/reconcile_result.h"
#include "controllers/sample_set/options.h"

namespace paddle::controllers::sample_set {

inline constexpr const char* kControllerName = "SampleSet";  // as events have always named it
inline constexpr const char* kLeaseName = "37987177.paddlepaddle.org";

// Connects the informers it needs to the queue and returns the reconcile function.
Reconcile make_reconciler(const ControllerContext& around, const Options& options,
                          const Clock& clock);

}  // namespace paddle::controllers::sample_set
