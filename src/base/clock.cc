// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <charconv>
#include <condition_variable>
#include <cstdio>
#include <mutex>

#include <time.h>

namespace paddle {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

std::string format(WallTime time, bool micro) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  char text[64];
  const int used = std::snprintf(
      text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
      static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
      static_cast<int>(clock.seconds().count()));
  std::string out(text, static_cast<size_t>(used));
  if (micro) {
    std::snprintf(text, sizeof text, ".%06d", static_cast<int>(clock.subseconds().count()));
    out += text;
  }
  return out + "Z";
}

// Reads exactly `width` digits at `at`, or returns -1.
int digits(std::string_view text, size_t at, size_t width) {
  if (at + width > text.size()) return -1;
  int value = 0;
  for (size_t i = at; i < at + width; ++i) {
    if (text[i] < '0' || text[i] > '9') return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

}  // namespace

WallTime SystemClock::wall() const {
  return std::chrono::time_point_cast<microseconds>(std::chrono::system_clock::now());
}

BootTime SystemClock::boot() const {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return BootTime{std::chrono::seconds{now.tv_sec} + nanoseconds{now.tv_nsec}};
}

bool SystemClock::sleep(nanoseconds pause, std::stop_token stop) const {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  wake.wait_for(lock, stop, pause, [] { return false; });
  return !stop.stop_requested();
}

const Clock& system_clock() {
  // Never destroyed: a detached thread may use it while the process ends.
  static const SystemClock& clock = *new SystemClock;
  return clock;
}

ManualClock::ManualClock(WallTime wall) : wall_us_(wall.time_since_epoch().count()) {}

WallTime ManualClock::wall() const { return WallTime{microseconds{wall_us_ + slept_us_}}; }

BootTime ManualClock::boot() const { return BootTime{nanoseconds{boot_ns_}}; }

bool ManualClock::sleep(nanoseconds pause, std::stop_token stop) const {
  boot_ns_ += pause.count();
  slept_us_ += std::chrono::duration_cast<microseconds>(pause).count();
  return !stop.stop_requested();
}

void ManualClock::advance(nanoseconds by) {
  boot_ns_ += by.count();
  wall_us_ += std::chrono::duration_cast<microseconds>(by).count();
}

void ManualClock::step_wall(microseconds by) { wall_us_ += by.count(); }

std::string rfc3339(WallTime time) { return format(time, false); }
std::string rfc3339_micro(WallTime time) { return format(time, true); }

Result<WallTime> parse_rfc3339(std::string_view text) {
  const Error bad{Code::kInvalid,
                  "not an RFC 3339 time: '" + std::string(text.substr(0, 64)) + "'"};
  const int year = digits(text, 0, 4), month = digits(text, 5, 2), day = digits(text, 8, 2);
  const int hour = digits(text, 11, 2), minute = digits(text, 14, 2), second = digits(text, 17, 2);
  if (year < 0 || month < 0 || day < 0 || hour < 0 || minute < 0 || second < 0) return bad;
  if (text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != 't') || text[13] != ':' ||
      text[16] != ':') {
    return bad;
  }
  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) return bad;

  size_t at = 19;
  microseconds fraction{0};
  if (at < text.size() && text[at] == '.') {
    ++at;
    std::int64_t scale = 100'000;
    const size_t first = at;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
      fraction += microseconds{(text[at] - '0') * scale};
      scale /= 10;
    }
    if (at == first) return bad;
  }

  std::chrono::minutes offset{0};
  if (at >= text.size()) return bad;
  if (text[at] == 'Z' || text[at] == 'z') {
    ++at;
  } else if (text[at] == '+' || text[at] == '-') {
    const int hours = digits(text, at + 1, 2), minutes = digits(text, at + 4, 2);
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || text[at + 3] != ':') return bad;
    offset = std::chrono::hours{hours} + std::chrono::minutes{minutes};
    if (text[at] == '-') offset = -offset;
    at += 6;
  }
  if (at != text.size()) return bad;
  return WallTime{std::chrono::sys_days{date} + std::chrono::hours{hour} +
                  std::chrono::minutes{minute} + std::chrono::seconds{second} + fraction - offset};
}

}  // namespace paddle
