// SPDX-License-Identifier: Apache-2.0
//
// The scheduler of one machine: binds every unscheduled pod to the node that placement.h chooses,
// or writes the reason into its condition PodScheduled.

#pragma once

#include "base/clock.h"
#include "controllers/loop/manager.h"

namespace paddle::local {

controllers::Reconcile make_scheduler(const controllers::ControllerContext& context,
                                      const Clock& clock);

}  // namespace paddle::local
