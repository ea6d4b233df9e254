// SPDX-License-Identifier: Apache-2.0
//
// `delete KIND NAME...` or `delete -f FILE`: removes objects and, unless told otherwise, waits
// until they are gone. One that is not there is an error unless --ignore-not-found.

#pragma once

#include <string>
#include <vector>

#include "cli/session.h"

namespace CLI {
class App;
}

namespace paddle::cli {

struct Delete {
  CommonFlags flags{};
  std::vector<std::string> words{};  // KIND NAME..., or KIND/NAME...
  std::vector<std::string> files{};
  bool wait = true;
  bool ignore_not_found = false;
  int timeout_seconds = 0;  // 0: as long as it takes
  bool operator==(const Delete&) const = default;
};

Result<> run(const Delete& verb, const CommandContext& context);

}  // namespace paddle::cli
