// SPDX-License-Identifier: Apache-2.0
//
// Checks whether this machine can run a local cluster, and whether one is ready. Each error is one
// sentence with a remedy.

#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "cli/session.h"

namespace paddle::cli {

// What `up` needs; checked before anything is started.
struct Prerequisites {
  bool root = false;
  std::string fuse_problem{};  // empty: /dev/fuse can be opened
  std::int64_t free_bytes = 0;
};
// Pure. `directory` is for the messages.
Result<> check_prerequisites(const Prerequisites& prerequisites, const std::string& directory);

// free_bytes is of the nearest existing parent directory.
Prerequisites inspect_machine(const std::string& directory);

// Waits until the API answers and the node is Ready.
Result<> await_ready(const local::ClusterDirectory& directory, const CommandContext& context,
                     std::chrono::milliseconds limit);

}  // namespace paddle::cli
