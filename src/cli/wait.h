// SPDX-License-Identifier: Apache-2.0
//
// `wait KIND/NAME --for=...`: returns when the object meets the condition, prints its progress
// meanwhile, and fails at once with the reason when the object can no longer meet it.

#pragma once

#include <string>
#include <vector>

#include "cli/session.h"
#include "cli/wait_condition.h"

namespace CLI {
class App;
}

namespace paddle::cli {

struct Wait {
  CommonFlags flags{};
  std::vector<std::string> words{};
  WaitCondition condition{};
  int timeout_seconds = 0;  // 0: no limit
  bool operator==(const Wait&) const = default;
};

Result<> run(const Wait& verb, const CommandContext& context);

}  // namespace paddle::cli
