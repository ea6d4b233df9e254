// SPDX-License-Identifier: Apache-2.0
#include "net/server/address.h"

#include <charconv>

namespace paddle::net {

std::string to_string(const Address& address) {
  const bool brackets = address.host.find(':') != std::string::npos;
  return (brackets ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

Result<Address> parse_address(std::string_view text) {
  const auto bad = [&] {
    return Error{Code::kInvalid, "'" + std::string(text.substr(0, 100)) +
                                     "' is not an address like :8081 or 127.0.0.1:8081"};
  };
  const size_t colon = text.rfind(':');
  if (colon == text.npos) return bad();
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (!host.empty() && host.front() == '[') {
    if (host.size() < 3 || host.back() != ']') return bad();
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != host.npos) {
    return bad();  // an IPv6 address needs brackets
  }
  for (const char c : host) {
    if (c <= ' ' || c == '/' || c == '[' || c == ']' || static_cast<unsigned char>(c) > 126) {
      return bad();
    }
  }
  Address address{std::string(host), 0};
  const auto [end, failed] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (failed != std::errc{} || end != port.data() + port.size()) return bad();
  if (address.port < 0 || address.port > 65535) return bad();
  return address;
}

}  // namespace paddle::net
