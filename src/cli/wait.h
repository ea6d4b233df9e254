// SPDX-License-Identifier: Apache-2.0
//
// `wait KIND/NAME --for=...`: returns when the object is there, says how far it is meanwhile, and
// ends at once with the reason when it can not get there any more.

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
  int timeout_seconds = 0;  // 0: as long as it takes
  bool operator==(const Wait&) const = default;
};

Result<> run(const Wait& verb, const CommandContext& context);

}  // namespace paddle::cli
