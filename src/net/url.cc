// SPDX-License-Identifier: Apache-2.0
#include "net/url.h"

#include <algorithm>

namespace paddle::net {
namespace {

bool unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

}  // namespace

std::string percent_encode(std::string_view text) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  const bool dots = text == "." || text == "..";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (unreserved(c) && !dots) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    }
  }
  return out;
}

std::string without_secrets(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  const size_t scheme = url.find("://");
  const size_t host = scheme == std::string_view::npos ? 0 : scheme + 3;
  const size_t slash = std::min(url.find('/', host), url.size());
  const size_t at = url.substr(0, slash).rfind('@');
  std::string out(url.substr(0, host));
  out += url.substr(at == std::string_view::npos || at < host ? host : at + 1);
  return out;
}

void add_query(std::string& url, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  url += url.find('?') == std::string::npos ? '?' : '&';
  url += name;
  url += '=';
  url += percent_encode(value);
}

}  // namespace paddle::net
