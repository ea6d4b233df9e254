// SPDX-License-Identifier: Apache-2.0
//
// Reads YAML as JSON, from files that users wrote. Never throws and always ends: the size of the
// text, the nesting, and the expansion of aliases are bounded.
//
// Plain scalars that are JSON numbers or booleans become those when nothing is lost by it (so that
// 0123 and 1.10 stay text); quoted ones are text. Only the first document is read. Merge keys
// ("<<") have no special meaning.

#pragma once

#include <string_view>

#include "api/json/json.h"
#include "base/result.h"

namespace paddle::api {

inline constexpr size_t kMaxYamlBytes = size_t{1}
                                        << 20;  // of the text, and again for what aliases add
inline constexpr size_t kMaxYamlNodes = 100'000;
inline constexpr size_t kMaxYamlDepth = 64;

// kInvalid with the line for text that is not YAML, has a key twice, or exceeds a bound.
Result<Json> parse_yaml(std::string_view text);

}  // namespace paddle::api
