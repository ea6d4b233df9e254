// SPDX-License-Identifier: Apache-2.0
//
// Drives one SampleJob towards its end: read, ask the runtimes, decide, act. All the thinking is in
// plan.h. A job that is deleted while it runs is cancelled at the runtimes: at once, or by the next
// operator, which asks them what they know and cancels what nobody wants any more.

#pragma once

#include "controllers/loop/manager.h"
#include "controllers/sample_job/options.h"

namespace paddle::controllers::sample_job {

inline constexpr const char* kControllerName = "SampleJob";  // as events have always named it
inline constexpr const char* kLeaseName = "778668173.batch.paddlepaddle.org";

// Connects the informers it needs to the queue and returns the reconcile function.
Reconcile make_reconciler(const ControllerContext& context, const Options& options,
                          const Clock& clock);

}  // namespace paddle::controllers::sample_job
