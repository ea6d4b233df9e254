// SPDX-License-Identifier: Apache-2.0
//
// Drives one PaddleJob towards its spec: read, decide, act. All the thinking is in plan.h.

#pragma once

#include "controllers/loop/ending.h"
#include "controllers/loop/manager.h"
#include "controllers/paddle_job/plan.h"

namespace paddle::controllers {

struct PaddleJobOptions {
  std::string ns{};  // empty: all namespaces
};

inline constexpr const char* kPaddleJobController = "paddlejob-controller";
inline constexpr const char* kPaddleJobLease = "b2a304f2.paddlepaddle.org";

// Connects the informers it needs to the queue and returns the reconcile function.
Reconcile make_paddle_job_reconciler(const Surroundings& around, const PaddleJobOptions& options,
                                     const Clock& clock);

}  // namespace paddle::controllers
