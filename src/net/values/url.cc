// SPDX-License-Identifier: Apache-2.0
#include "net/values/url.h"

#include <algorithm>
#include <memory>

#include <curl/curl.h>

namespace paddle::net {
namespace {

bool unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

std::string part_of(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK || text == nullptr) return {};
  const std::unique_ptr<char, decltype(&curl_free)> owned(text, &curl_free);
  return text;
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

Result<Origin> origin_of(const std::string& url) {
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> handle(curl_url(), &curl_url_cleanup);
  const Error bad{Code::kInvalid, "not an http or https URL: '" + without_secrets(url) + "'"};
  if (!handle || curl_url_set(handle.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) return bad;
  Origin origin{.scheme = part_of(handle.get(), CURLUPART_SCHEME),
                .host = part_of(handle.get(), CURLUPART_HOST),
                .port = part_of(handle.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT)};
  if (origin.scheme != "http" && origin.scheme != "https") return bad;
  if (origin.host.starts_with('[') && origin.host.ends_with(']')) {
    origin.host = origin.host.substr(1, origin.host.size() - 2);
  }
  return origin;
}

}  // namespace paddle::net
