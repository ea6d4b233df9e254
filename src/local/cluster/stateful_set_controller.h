// SPDX-License-Identifier: Apache-2.0
//
// Manages the pods of StatefulSets: read, decide (stateful_set_plan.h), execute.

#pragma once

#include "controllers/loop/manager.h"

namespace paddle::local {

controllers::Reconcile make_stateful_set_controller(const controllers::ControllerContext& context);

}  // namespace paddle::local
