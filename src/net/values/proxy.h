// SPDX-License-Identifier: Apache-2.0
//
// Which proxy, if any, leads to a URL: the rules of Go's net/http, so that an environment that
// works for kubectl works here. Loopback and "localhost" never go through a proxy. NO_PROXY holds
// addresses, CIDR blocks, names (with their subdomains; a leading dot for the subdomains alone)
// with optional ports, or "*". Pure.

#pragma once

#include <string>

#include "net/values/url.h"

namespace paddle::net {

// The variables HTTP_PROXY, HTTPS_PROXY and NO_PROXY.
struct ProxySettings {
  std::string http{};
  std::string https{};
  std::string none{};
};

// Empty: connect directly.
std::string proxy_for(const Origin& origin, const ProxySettings& settings);

// In libcurl's syntax: a scheme is added when there is none, and socks5 lets the proxy resolve
// names.
std::string curl_proxy(const std::string& proxy);

}  // namespace paddle::net
