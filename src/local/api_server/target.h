// SPDX-License-Identifier: Apache-2.0
//
// Parses the target of a request: decoded path segments and query parameters. Pure; a target is
// either parsed completely or rejected.

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace paddle::local {

struct Target {
  std::vector<std::string> path{};
  std::map<std::string, std::string> query{};

  // The parameter's value, empty when it was not given.
  std::string operator[](const std::string& name) const;
  bool is_true(const std::string& name) const;  // "true", "1", or given without a value
};

// kInvalid for targets that are not origin-form, broken escapes, control characters, "." and ".."
// segments, and slashes hidden in escapes.
Result<Target> parse_target(std::string_view text);

}  // namespace paddle::local
