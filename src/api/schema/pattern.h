// SPDX-License-Identifier: Apache-2.0
//
// Text checks with the API server's semantics: RE2 regular expressions (linear time, so hostile
// text can not stall us) and lengths in characters, not bytes. Thread-safe.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace paddle::api {

// Unanchored. Patterns come from our own schemas only: each is compiled once and kept.
bool matches_pattern(std::string_view text, const std::string& pattern);

// Number of Unicode code points in UTF-8 text.
size_t characters(std::string_view text);

}  // namespace paddle::api
