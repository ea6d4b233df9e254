// SPDX-License-Identifier: Apache-2.0
//
// The scheduler of one machine: gives every pod without a node the one that placement.h chooses, or
// says in its condition PodScheduled why there is none.

#pragma once

#include "base/clock.h"
#include "controllers/loop/manager.h"

namespace paddle::local {

controllers::Reconcile make_scheduler(const controllers::ControllerContext& context,
                                      const Clock& clock);

}  // namespace paddle::local
