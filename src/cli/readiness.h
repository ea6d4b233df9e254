// SPDX-License-Identifier: Apache-2.0
//
// Whether this machine can have a local cluster, and whether one is ready. Each answer that is no
// is one sentence with the way out.

#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "cli/session.h"

namespace paddle::cli {

// What `up` needs, looked at before anything is started.
struct Prerequisites {
  bool root = false;
  std::string fuse_problem{};  // empty: /dev/fuse can be opened
  std::int64_t free_bytes = 0;
};
// Pure. `directory` is for the sentences.
Result<> check_prerequisites(const Prerequisites& prerequisites, const std::string& directory);

// free_bytes is that of the nearest directory that exists.
Prerequisites inspect_machine(const std::string& directory);

// Waits until the API answers and the node is Ready.
Result<> await_ready(const local::ClusterDirectory& directory, const CommandContext& context,
                     std::chrono::milliseconds limit);

}  // namespace paddle::cli
