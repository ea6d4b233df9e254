// SPDX-License-Identifier: Apache-2.0
//
// Which proxy, if any, leads to a URL: the rules of Go's net/http, so that an environment that
// works for kubectl works here. Upper-case names win over lower-case ones. Loopback and "localhost"
// never go through a proxy. NO_PROXY holds addresses, CIDR blocks, names (with their subdomains; a
// leading dot for the subdomains alone) with optional ports, or "*". Pure, but for
// proxies_of_environment().

#pragma once

#include <string>

#include "net/url.h"

namespace paddle::net {

struct ProxySettings {
  std::string http{};
  std::string https{};
  std::string none{};  // NO_PROXY
};
ProxySettings proxies_of_environment();

// Empty when the URL is to be reached directly.
std::string proxy_for(const Origin& origin, const ProxySettings& settings);

// As libcurl spells it: a scheme is added when there is none, and socks5 lets the proxy resolve
// names.
std::string curl_proxy(const std::string& proxy);

}  // namespace paddle::net
