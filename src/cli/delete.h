// SPDX-License-Identifier: Apache-2.0
//
// `delete KIND NAME...` or `delete -f FILE`: deletes objects and, by default, waits until they are
// gone. An object that does not exist is an error unless --ignore-not-found is set.

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
  std::string selector{};  // with one KIND: those with these labels
  bool all = false;        // with one KIND: all in the namespace
  bool wait = true;
  bool ignore_not_found = false;
  int timeout_seconds = 0;  // 0: no limit
  bool operator==(const Delete&) const = default;
};

Result<> run(const Delete& verb, const CommandContext& context);

}  // namespace paddle::cli
