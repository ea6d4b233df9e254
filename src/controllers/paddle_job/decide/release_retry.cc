// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/decide/release_retry.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace paddle::controllers::paddle_job {
namespace {

struct Stamp {
  int attempts = 0;
  WallTime at{};
};

std::optional<Stamp> stamp_in(const std::string& text) {
  Stamp stamp;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, stamp.attempts);
  if (error != std::errc{} || stamp.attempts < 1 || rest == end || *rest != ' ')
    return std::nullopt;
  const auto at = parse_rfc3339(std::string_view(rest + 1, end));
  if (!at) return std::nullopt;
  stamp.at = *at;
  return stamp;
}

}  // namespace

std::string first_release_stamp(WallTime now) { return "1 " + rfc3339_micro(now); }

std::string next_release_stamp(const std::string& stamp, WallTime now) {
  const auto last = stamp_in(stamp);
  return std::to_string(last ? std::min(last->attempts, 1'000'000) + 1 : 2) + " " +
         rfc3339_micro(now);
}

WallTime release_again_at(const std::string& stamp, WallTime now) {
  const auto last = stamp_in(stamp);
  if (!last || last->at > now) return now;
  const auto pause = kFirstReleaseRetry * (1 << std::min(last->attempts - 1, 10));
  return last->at + std::min<std::chrono::seconds>(pause, kLongestReleaseRetry);
}

}  // namespace paddle::controllers::paddle_job
