// SPDX-License-Identifier: Apache-2.0
//
// Paths that users give, relative to the root of the set. Pure.

#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace paddle::engine::juicefs {

inline constexpr std::size_t kLongestName = 255;  // of a file or directory, in bytes

// Drops empty components and ".": "a//b/./c" -> "a/b/c". kInvalid: the path leaves the set, or one
// of its names has a newline or is longer than kLongestName.
Result<std::string> path_in_set(const std::string& path);

}  // namespace paddle::engine::juicefs
