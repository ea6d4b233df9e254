// SPDX-License-Identifier: Apache-2.0
//
// Reconciles one PaddleJob with its spec: observe (observe/), plan (plan.h), execute (execute/).
// Everything is decided by the plan.

#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "controllers/loop/manager.h"
#include "controllers/loop/reconcile_result.h"
#include "controllers/paddle_job/actions.h"
#include "controllers/paddle_job/config.h"
#include "etcd/store.h"

namespace paddle::controllers::paddle_job {

struct Options {
  std::string ns{};  // empty: all namespaces
  Config config{};
  std::shared_ptr<etcd::Store> etcd{};  // required with config.etcd; null: none
  // Of a wave at the same time; 1 for tests that decide what happens when.
  std::size_t parallel_actions = kParallelActions;
};

inline constexpr const char* kControllerName = "paddlejob-controller";
inline constexpr const char* kLeaseName = "b2a304f2.paddlepaddle.org";

// Connects the informers that it needs to the queue and returns the reconcile function. Borrows
// what the context refers to, and the clock.
Reconcile make_reconciler(const ControllerContext& context, const Options& options,
                          const Clock& clock);

}  // namespace paddle::controllers::paddle_job
