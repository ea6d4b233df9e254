// SPDX-License-Identifier: Apache-2.0
#include "net/values/proxy.h"

#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include <arpa/inet.h>

namespace paddle::net {
namespace {

using Address = std::array<unsigned char, 16>;  // IPv4 as ::ffff:a.b.c.d

std::optional<Address> address_of(const std::string& text) {
  Address out{};
  in_addr four{};
  if (inet_pton(AF_INET, text.c_str(), &four) == 1) {
    out[10] = out[11] = 0xff;
    std::memcpy(&out[12], &four, 4);
    return out;
  }
  if (inet_pton(AF_INET6, text.c_str(), out.data()) == 1) return out;
  return std::nullopt;
}

bool same_prefix(const Address& a, const Address& b, int bits) {
  const auto whole = static_cast<size_t>(bits / 8);
  if (std::memcmp(a.data(), b.data(), whole) != 0) return false;
  const int rest = bits % 8;
  return rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0;
}

bool loopback(const std::string& host) {
  if (host == "localhost") return true;
  const auto address = address_of(host);
  if (!address) return false;
  return *address == *address_of("::1") || same_prefix(*address, *address_of("127.0.0.0"), 104);
}

bool in_block(const std::string& host, std::string_view block) {
  const size_t slash = block.find('/');
  const auto address = address_of(host);
  const auto base = address_of(std::string(block.substr(0, slash)));
  int bits = -1;
  const auto text = block.substr(slash + 1);
  const auto end = std::from_chars(text.data(), text.data() + text.size(), bits).ptr;
  if (!address || !base || end != text.data() + text.size() || bits < 0) return false;
  if (block.find(':') == std::string_view::npos) bits += 96;
  return bits <= 128 && same_prefix(*address, *base, bits);
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool exempt(const std::string& host, const std::string& port, std::string entry) {
  if (entry.empty()) return false;
  if (entry == "*") return true;
  if (entry.find('/') != std::string::npos) return in_block(host, entry);

  if (entry.front() == '[') {  // [v6] or [v6]:port
    const size_t close = entry.find(']');
    if (close == std::string::npos) return false;
    const std::string rest = entry.substr(close + 1);
    if (!rest.empty() && rest != ":" + port) return false;
    entry = entry.substr(1, close - 1);
  } else if (const size_t colon = entry.find(':');
             colon != std::string::npos && colon == entry.rfind(':')) {
    if (entry.substr(colon + 1) != port) return false;
    entry.resize(colon);
  }
  if (const auto address = address_of(entry)) return address == address_of(host);

  if (entry.starts_with("*.")) entry.erase(0, 1);
  if (entry.starts_with(".")) return host.ends_with(entry);
  return host == entry || host.ends_with("." + entry);
}

}  // namespace

std::string proxy_for(const Origin& origin, const ProxySettings& settings) {
  const std::string& proxy = origin.scheme == "https" ? settings.https : settings.http;
  if (proxy.empty()) return {};
  const std::string host = lower(origin.host);
  if (loopback(host)) return {};

  std::string_view rest = settings.none;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    std::string_view entry = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    while (!entry.empty() && entry.front() == ' ') entry.remove_prefix(1);
    while (!entry.empty() && entry.back() == ' ') entry.remove_suffix(1);
    if (exempt(host, origin.port, lower(entry))) return {};
  }
  return proxy;
}

std::string curl_proxy(const std::string& proxy) {
  if (proxy.empty()) return {};
  if (proxy.find("://") == std::string::npos) return "http://" + proxy;
  if (proxy.starts_with("socks5://")) return "socks5h" + proxy.substr(6);
  return proxy;
}

}  // namespace paddle::net
