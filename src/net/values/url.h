// SPDX-License-Identifier: Apache-2.0
//
// The parts of RFC 3986 that callers of HttpClient need. Pure.

#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace paddle::net {

// Keeps unreserved characters (letters, digits, - . _ ~) and writes the others as %XX. The segments
// "." and ".." become %2E and %2E%2E, so that no server or proxy interprets them.
std::string percent_encode(std::string_view text);

// "https://user:secret@host/path?token=x" -> "https://host/path": for messages and logs.
std::string without_secrets(std::string_view url);

// Appends "?name=value" or "&name=value" with the value encoded; an empty value is left out.
void add_query(std::string& url, std::string_view name, std::string_view value);

// Scheme, host and port of a URL. The host is without brackets, the port is always set.
struct Origin {
  std::string scheme{};
  std::string host{};
  std::string port{};
  bool operator==(const Origin&) const = default;
};
// kInvalid unless it is an absolute http or https URL.
Result<Origin> origin_of(const std::string& url);

}  // namespace paddle::net
