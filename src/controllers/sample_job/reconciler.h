// SPDX-License-Identifier: Apache-2.0
//
// Reconciles SampleJobs: observes, calls desired(), executes the plan. Decides nothing.
//
// A job that is deleted while it runs is cancelled at the runtimes: at once, or by the next
// operator, which finds what they still have (execute/orphaned_jobs.h).

#pragma once

#include <string>

#include "controllers/loop/manager.h"
#include "controllers/sample_job/config.h"
#include "engine/manifests.h"
#include "runtime/runtime_polls.h"
#include "runtime/runtime_sends.h"

namespace paddle::controllers::sample_job {

inline constexpr const char* kControllerName = "SampleJob";  // the source of our events, too
inline constexpr const char* kLeaseName = "778668173.batch.paddlepaddle.org";

struct Options {
  std::string ns{};  // empty: all namespaces
  engine::ManifestBuilders engines{};
  runtime::RuntimePolls polls{};
  runtime::RuntimeSends sends{};  // jobs and cancellations
  Config config{};
};

// Connects the informers that it needs to the queue and returns the reconcile function. The clock
// must outlive that function.
Reconcile make_reconciler(const ControllerContext& context, const Options& options,
                          const Clock& clock);

}  // namespace paddle::controllers::sample_job
