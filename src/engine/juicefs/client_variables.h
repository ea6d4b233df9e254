// SPDX-License-Identifier: Apache-2.0
//
// The key `envs` of a user's Secret: variables for the JuiceFS client. The driver sets them for a
// program that it runs in its privileged pod, and as keys of a Secret from which it makes
// privileged pods, so a name that a loader, a shell or the driver itself knows is the node's end.
// Only names that are known to be harmless pass, with values of one bounded line. Pure.

#pragma once

#include <map>
#include <string>

#include "base/result.h"

namespace paddle::engine::juicefs {

inline constexpr const char* kPasswordVariable = "META_PASSWORD";

// From a JSON object of texts; or YAML as users write it: {NAME: value, ...} or one "NAME: value" a
// line. kInvalid: one clause about 'envs' that names the variable and never its value.
Result<std::map<std::string, std::string>> read_variables(const std::string& text);

}  // namespace paddle::engine::juicefs
