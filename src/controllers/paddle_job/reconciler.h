// SPDX-License-Identifier: Apache-2.0
//
// Drives one PaddleJob towards its spec: see (job_view.h), decide (plan.h), act (hand.h). All the
// thinking is in the plan.

#pragma once

#include <memory>
#include <string>

#include "controllers/loop/manager.h"
#include "controllers/loop/reconcile_result.h"
#include "controllers/paddle_job/plan.h"
#include "controllers/paddle_job/setting.h"
#include "etcd/store.h"

namespace paddle::controllers {

struct PaddleJobOptions {
  std::string ns{};  // empty: all namespaces
  Setting setting{};
  std::shared_ptr<etcd::Store> etcd{};  // with setting.etcd; null: none
};

inline constexpr const char* kPaddleJobController = "paddlejob-controller";
inline constexpr const char* kPaddleJobLease = "b2a304f2.paddlepaddle.org";

// Connects the informers it needs to the queue and returns the reconcile function.
Reconcile make_paddle_job_reconciler(const ControllerContext& around,
                                     const PaddleJobOptions& options, const Clock& clock);

}  // namespace paddle::controllers
