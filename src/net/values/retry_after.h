// SPDX-License-Identifier: Apache-2.0
//
// The Retry-After header of RFC 9110: a number of seconds or an HTTP date. Pure.

#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.h"

namespace paddle::net {

// From 0 to one hour; a date in the past is 0, an invalid text nullopt.
std::optional<std::chrono::milliseconds> parse_retry_after(const std::string& text, WallTime now);

}  // namespace paddle::net
