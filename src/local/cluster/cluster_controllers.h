// SPDX-License-Identifier: Apache-2.0
//
// What kube-scheduler and kube-controller-manager do, as far as one machine needs it: binds pods to
// the node, keeps the pods of StatefulSets, binds claims to volumes. (The API server itself handles
// owner references.) Each is a pure plan and a thin reconciler on controllers/loop.

#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "controllers/loop/manager.h"

namespace paddle::local {

// Call it before manager.run(). The clock outlives the manager.
Result<> add_cluster_controllers(controllers::Manager& manager,
                                 const Clock& clock = system_clock());

}  // namespace paddle::local
