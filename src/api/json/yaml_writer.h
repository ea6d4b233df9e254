// SPDX-License-Identifier: Apache-2.0
//
// Writes JSON values as readable YAML: block style, and flow style for large subtrees without any
// description, which are schemas that are not ours.

#pragma once

#include <string>

#include "api/json/json.h"

namespace paddle::api {

std::string to_yaml(const Json& value);

// Block style only, for objects that are shown to users.
std::string to_block_yaml(const Json& value);

}  // namespace paddle::api
