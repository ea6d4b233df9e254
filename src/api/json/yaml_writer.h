// SPDX-License-Identifier: Apache-2.0
//
// Writes JSON values as YAML that people can read: block style, and flow style for
// large subtrees that have no description anywhere, which are other people's schemas.

#pragma once

#include <string>

#include "api/json/json.h"

namespace paddle::api {

std::string to_yaml(const Json& value);

// Block style throughout, for objects that people look at.
std::string to_block_yaml(const Json& value);

}  // namespace paddle::api
