// SPDX-License-Identifier: Apache-2.0
//
// Text checks with the semantics of the API server: RE2 regular expressions (linear time, so that
// hostile text cannot stall us) and lengths in characters, not in bytes. Thread-safe.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace paddle::api {

// Unanchored. Patterns come only from our own schemas: each is compiled once and kept.
bool matches_pattern(std::string_view text, const std::string& pattern);

// Number of Unicode code points in UTF-8 text.
size_t characters(std::string_view text);

}  // namespace paddle::api
