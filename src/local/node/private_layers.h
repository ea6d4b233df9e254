// SPDX-License-Identifier: Apache-2.0
//
// The machine's file systems behind a private layer: what is written there goes to `directory`, and
// nothing of it is visible outside. The caller has its own mount namespace.

#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace paddle::local {

// Mounts this machine's "/" and its other file systems on disks at `root`, each with a private
// layer beneath `directory`. One that cannot have a layer is read-only. Returns the mount points
// beneath `root`, parents first.
Result<std::vector<std::string>> mount_private_layers(const std::string& directory,
                                                      const std::string& root);

}  // namespace paddle::local
