// SPDX-License-Identifier: Apache-2.0
//
// Binds claims to volumes and maintains the phases of both: read, decide (volume_plan.h), execute.
// It has one worker, so that two claims never compete for one volume. A key with a namespace is a
// claim, one without a volume.

#pragma once

#include "controllers/loop/manager.h"

namespace paddle::local {

controllers::Reconcile make_volume_binder(const controllers::ControllerContext& context);

}  // namespace paddle::local
