// SPDX-License-Identifier: Apache-2.0
//
// Gives the calling process, which must have its own mount namespace, a private view of the
// machine's files: writes go to `directory`, volumes appear at their targets, and nothing is
// visible outside. Targets are resolved inside the new root, sources beneath their own root, so
// that no symlink leads out.

#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "local/node/container_plan.h"

namespace paddle::local {

Result<> enter_private_root(const std::string& directory, const std::vector<BindMount>& mounts);

}  // namespace paddle::local
