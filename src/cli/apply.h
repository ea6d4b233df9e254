// SPDX-License-Identifier: Apache-2.0
//
// `apply -f FILE`: makes objects what a file says, by server-side apply, and tells of each whether
// it was created, changed or left alone. Goes on after a refusal; the first one is the error.

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
