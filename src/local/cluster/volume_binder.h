// SPDX-License-Identifier: Apache-2.0
//
// Binds claims to volumes and keeps the phases of both: read, decide (volume_plan.h), act. One
// worker: two claims never reach for one volume at the same time. A key with a namespace is a
// claim's, one without a volume's.

#pragma once

#include "controllers/loop/manager.h"

namespace paddle::local {

controllers::Reconcile make_volume_binder(const controllers::ControllerContext& context);

}  // namespace paddle::local
