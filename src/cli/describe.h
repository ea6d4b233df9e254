// SPDX-License-Identifier: Apache-2.0
//
// `describe KIND NAME`: an object as YAML, without what only servers need, and its events.

#pragma once

#include <string>
#include <vector>

#include "cli/session.h"

namespace CLI {
class App;
}

namespace paddle::cli {

struct Describe {
  CommonFlags flags{};
  std::vector<std::string> words{};  // KIND NAME... or KIND/NAME...
  bool operator==(const Describe&) const = default;
};

Result<> run(const Describe& verb, const CommandContext& context);

// The printed text. `events`: those of the object, in any order. Pure.
std::string description(api::Json object, std::vector<api::Json> events);

}  // namespace paddle::cli
