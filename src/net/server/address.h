// SPDX-License-Identifier: Apache-2.0
//
// The address that a server listens on, in the syntax of flags: ":8081", "127.0.0.1:0",
// "[::1]:9000". A value.

#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace paddle::net {

struct Address {
  std::string host{};  // empty: every interface, IPv6 and IPv4
  int port = 0;        // 0: the kernel chooses
  bool operator==(const Address&) const = default;
};
std::string to_string(const Address& address);

// kInvalid when the text is not [host]:port.
Result<Address> parse_address(std::string_view text);

}  // namespace paddle::net
