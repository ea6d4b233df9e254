// SPDX-License-Identifier: Apache-2.0
//
// The key `envs` of a user's Secret: environment variables of the JuiceFS client. Pure. The driver
// sets them for a program in its privileged pod, and as keys of a Secret from which it makes
// privileged pods, so a name that a loader, a shell or the driver reads would give the user control
// of the node. Only names that are known to be harmless are accepted, with values of one bounded
// line.

#pragma once

#include <map>
#include <string>

#include "base/result.h"

namespace paddle::engine::juicefs {

inline constexpr const char* kPasswordVariable = "META_PASSWORD";

// Reads a JSON object of texts, or simple YAML: {NAME: value, ...} or one "NAME: value" per line.
// kInvalid: one clause about 'envs' with the name of the variable and never its value.
Result<std::map<std::string, std::string>> read_variables(const std::string& text);

}  // namespace paddle::engine::juicefs
