// SPDX-License-Identifier: Apache-2.0
//
// The JSON value that Kubernetes objects are made of. Headers that only mention Json include this;
// files that touch its inside include <nlohmann/json.hpp>.

#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string_view>

#include "base/result.h"

namespace paddle::api {

using Json = nlohmann::json;

// Never throws: kInvalid with the position for text that is not JSON, is nested deeper than
// kMaxDepth (a hostile text must not overflow the stack), or is not UTF-8.
inline constexpr int kMaxDepth = 128;
Result<Json> parse_json(std::string_view text);

// Compact text; invalid UTF-8 in strings is replaced, never thrown about.
std::string dump_json(const Json& value);

}  // namespace paddle::api
