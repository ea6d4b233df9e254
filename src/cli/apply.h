// SPDX-License-Identifier: Apache-2.0
//
// `apply -f FILE`: creates or updates the objects of a file by server-side apply, and prints for
// each whether it was created, configured or unchanged. Continues after a rejected object; the
// first rejection is the error.

#pragma once

#include <string>
#include <vector>

#include "cli/session.h"

namespace CLI {
class App;
}

namespace paddle::cli {

struct Apply {
  CommonFlags flags{};
  std::vector<std::string> files{};  // "-": standard input
  bool operator==(const Apply&) const = default;
};

Result<> run(const Apply& verb, const CommandContext& context);

}  // namespace paddle::cli
