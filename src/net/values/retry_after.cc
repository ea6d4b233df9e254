// SPDX-License-Identifier: Apache-2.0
#include "net/values/retry_after.h"

#include <algorithm>

#include <curl/curl.h>

namespace paddle::net {

std::optional<std::chrono::milliseconds> parse_retry_after(const std::string& text, WallTime now) {
  using namespace std::chrono_literals;
  constexpr std::chrono::milliseconds kLongest = 1h;
  if (text.empty()) return std::nullopt;
  if (text.find_first_not_of("0123456789") == std::string::npos) {
    if (text.size() > 6) return kLongest;
    return std::min<std::chrono::milliseconds>(std::chrono::seconds{std::stol(text)}, kLongest);
  }
  if (text.front() < 'A' || text.front() > 'Z')
    return std::nullopt;  // dates begin with a day's name
  const time_t date = curl_getdate(text.c_str(), nullptr);
  if (date < 0) return std::nullopt;
  const auto wait = WallTime{std::chrono::seconds{date}} - now;
  return std::clamp(std::chrono::ceil<std::chrono::milliseconds>(wait), 0ms, kLongest);
}

}  // namespace paddle::net
