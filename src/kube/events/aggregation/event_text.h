// SPDX-License-Identifier: Apache-2.0
//
// Text and names of events. Pure.

#pragma once

#include <string>
#include <string_view>

namespace paddle::kube {

inline constexpr size_t kMaxEventMessage = 1024;  // the API's limit, in bytes
inline constexpr size_t kMaxEventReason = 128;

// Valid UTF-8 of at most `limit` bytes: cut between characters, invalid bytes become '?'.
std::string clean_text(std::string_view text, size_t limit);

// "<object>.<16 hex digits>", a valid object name of at most 253 characters. The digits are a hash
// of `what`, so that the same occurrence always has the same name.
std::string event_name(std::string_view object, std::string_view what);

}  // namespace paddle::kube
