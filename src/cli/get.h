// SPDX-License-Identifier: Apache-2.0
//
// `get KIND [NAME...]`: prints objects as the server's table, one for each kind, as one JSON or
// YAML document, or as names; with -w also later changes.

#pragma once

#include <string>
#include <vector>

#include "cli/session.h"

namespace CLI {
class App;
}

namespace paddle::cli {

struct Get {
  CommonFlags flags{};
  std::vector<std::string> words{};  // KIND [NAME...] or KIND/NAME...
  std::string selector{};
  std::string output = "table";  // table, wide, json, yaml or name
  bool all_namespaces = false;
  bool watch = false;
  bool operator==(const Get&) const = default;
};

Result<> run(const Get& verb, const CommandContext& context);

}  // namespace paddle::cli
