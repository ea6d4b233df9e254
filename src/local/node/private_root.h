// SPDX-License-Identifier: Apache-2.0
//
// Gives the calling process, which is already in a mount namespace of its own, a private view of
// the machine's files: what it writes goes to `directory`, volumes appear at their targets, and
// nothing of it shows outside. Targets are resolved inside the new root, sources beneath their own
// root, so that no symlink leads out.

#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "local/node/container_plan.h"

namespace paddle::local {

Result<> enter_private_root(const std::string& directory, const std::vector<BindMount>& mounts);

}  // namespace paddle::local
