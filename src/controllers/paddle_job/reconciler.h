// SPDX-License-Identifier: Apache-2.0
//
// Drives one PaddleJob towards its spec: see (job_view.h), decide (plan.h), act (hand.h). All the
// thinking is in the plan.

#pragma once

#include <memory>
#include <string>

#include "controllers/loop/manager.h"
#include "controllers/loop/reconcile_result.h"
#include "controllers/paddle_job/config.h"
#include "controllers/paddle_job/plan.h"
#include "etcd/store.h"

namespace paddle::controllers::paddle_job {

struct Options {
  std::string ns{};  // empty: all namespaces
  Config config{};
  std::shared_ptr<etcd::Store> etcd{};  // with setting.etcd; null: none
};

inline constexpr const char* kControllerName = "paddlejob-controller";
inline constexpr const char* kLeaseName = "b2a304f2.paddlepaddle.org";

// Connects the informers it needs to the queue and returns the reconcile function.
Reconcile make_reconciler(const ControllerContext& context, const Options& options,
                          const Clock& clock);

}  // namespace paddle::controllers::paddle_job
