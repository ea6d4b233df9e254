// SPDX-License-Identifier: Apache-2.0
//
// Which names a sample may have: what every file system can show. Components are not empty, not "."
// or "..", at most 255 bytes, without NUL; a path is at most 4095 bytes. Pure.

#pragma once

#include <cstddef>
#include <string_view>

namespace paddle::source {

inline constexpr std::size_t kMaxNameSize = 255;
inline constexpr std::size_t kMaxPathSize = 4095;
inline constexpr std::size_t kMaxEtagSize = 255;

bool is_name(std::string_view name);
bool is_path(std::string_view path);
// What is wrong with it, in a few words; empty for a path.
std::string_view why_no_path(std::string_view path);
// Printable ASCII without quotes and spaces, so that it can go into a header as it is.
bool is_etag(std::string_view etag);

}  // namespace paddle::source
