// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace paddle {

std::string human_size(std::int64_t bytes) {
  constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 10) return std::to_string(bytes < 0 ? 0 : bytes) + " B";
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  value = std::floor(value * 10 + 0.5) / 10;
  char text[32];
  std::snprintf(text, sizeof text, value < 10 && unit > 0 ? "%.1f %s" : "%.0f %s", value,
                kUnits[unit]);
  return text;
}

std::string with_commas(std::int64_t number) {
  std::string text = std::to_string(number);
  const size_t first = number < 0 ? 1 : 0;
  for (size_t at = text.size(); at > first + 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

std::string human_duration(std::chrono::seconds span) {
  const auto s = span.count();
  const auto pair = [](std::int64_t big, const char* unit, std::int64_t small, const char* rest) {
    std::string made = std::to_string(big) + unit;
    if (small != 0) made += std::to_string(small) + rest;
    return made;
  };
  constexpr std::int64_t kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour, kYear = 365 * kDay;
  if (s < -1) return "<invalid>";
  if (s < 0) return "0s";
  if (s < 2 * kMinute) return std::to_string(s) + "s";
  if (s < 10 * kMinute) return pair(s / kMinute, "m", s % kMinute, "s");
  if (s < 3 * kHour) return std::to_string(s / kMinute) + "m";
  if (s < 8 * kHour) return pair(s / kHour, "h", s % kHour / kMinute, "m");
  if (s < 2 * kDay) return std::to_string(s / kHour) + "h";
  if (s < 8 * kDay) return pair(s / kDay, "d", s % kDay / kHour, "h");
  if (s < 2 * kYear) return std::to_string(s / kDay) + "d";
  if (s < 8 * kYear) return pair(s / kYear, "y", s % kYear / kDay, "d");
  return std::to_string(s / kYear) + "y";
}

}  // namespace paddle
