// SPDX-License-Identifier: Apache-2.0
//
// The valid names of samples: those that every file system supports. Components are not empty, not
// "." or "..", at most 255 bytes, without NUL; a path is at most 4095 bytes. Pure.

#pragma once

#include <cstddef>
#include <string_view>

namespace paddle::source {

inline constexpr std::size_t kMaxNameSize = 255;
inline constexpr std::size_t kMaxPathSize = 4095;
inline constexpr std::size_t kMaxEtagSize = 255;

bool is_name(std::string_view name);
bool is_path(std::string_view path);
// Why the path is invalid, in a few words; empty for a valid path.
std::string_view why_no_path(std::string_view path);
// Printable ASCII without quotes and spaces, so that it is a valid header value.
bool is_etag(std::string_view etag);
// The same rules; longer ids are not kept.
inline bool is_version_id(std::string_view id) { return is_etag(id); }

}  // namespace paddle::source
