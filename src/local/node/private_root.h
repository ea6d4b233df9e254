// SPDX-License-Identifier: Apache-2.0
//
// Gives the calling process, which must have its own mount namespace, a private view of the
// machine's files: writes go to the container's directory, volumes appear at their targets, /dev is
// small (private_devices.h), /proc and /sys show the container's own processes and network, and
// nothing is visible outside. Targets are resolved inside the new root, sources beneath their own
// root, so that no symlink leads out.

#pragma once

#include "base/result.h"
#include "local/node/container_plan.h"

namespace paddle::local {

Result<> enter_private_root(const ContainerPlan& plan);

}  // namespace paddle::local
