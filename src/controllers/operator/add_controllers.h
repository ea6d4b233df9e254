// SPDX-License-Identifier: Apache-2.0
//
// The controllers of this project, added to a manager: the same for `paddle-operator` in a cluster
// and for `paddlectl local` on one machine.

#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "controllers/loop/manager.h"
#include "controllers/operator/options/operator_options.h"

namespace paddle::controllers {

// kInvalid names a controller that there is not, or what is wrong with an option.
Result<> add_controllers(Manager& manager, const OperatorOptions& options,
                         const Clock& clock = system_clock());

}  // namespace paddle::controllers
