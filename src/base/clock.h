// SPDX-License-Identifier: Apache-2.0
//
// Time as an argument. Two clocks for two purposes:
//
//   wall()  the time of day; may jump in either direction.
//   boot()  time since boot including suspension (CLOCK_BOOTTIME); never jumps, and continues while
//           the process is stopped: for leases and deadlines.
//
// Only base/ reads the machine's clocks or sleeps; tools/check_clocks enforces it. All members are
// thread-safe.

#pragma once

#include <atomic>
#include <chrono>
#include <stop_token>
#include <string>

#include "base/result.h"

namespace paddle {

using WallTime = std::chrono::sys_time<std::chrono::microseconds>;

// Not std::chrono::steady_clock, which stops during suspension.
struct BootClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock>;
  static constexpr bool is_steady = true;
};
using BootTime = BootClock::time_point;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime wall() const = 0;
  virtual BootTime boot() const = 0;
  // Returns true after `pause`, or false immediately when `stop` is requested.
  virtual bool sleep(std::chrono::nanoseconds pause, std::stop_token stop) const = 0;
};

// The machine's clocks.
class SystemClock final : public Clock {
 public:
  WallTime wall() const override;
  BootTime boot() const override;
  bool sleep(std::chrono::nanoseconds pause, std::stop_token stop) const override;
};
const Clock& system_clock();

// Changes only by advance(), step_wall() and sleep(), which returns immediately.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(WallTime wall = WallTime{std::chrono::seconds{1'700'000'000}});
  WallTime wall() const override;
  BootTime boot() const override;
  bool sleep(std::chrono::nanoseconds pause, std::stop_token stop) const override;

  void advance(std::chrono::nanoseconds by);     // both clocks
  void step_wall(std::chrono::microseconds by);  // only the wall clock, as NTP or a user does

 private:
  std::atomic<std::int64_t> wall_us_;
  mutable std::atomic<std::int64_t> boot_ns_{0};
  mutable std::atomic<std::int64_t> slept_us_{0};
};

// RFC 3339 in UTC, as Kubernetes writes it: seconds for metav1.Time, microseconds for MicroTime.
std::string rfc3339(WallTime time);
std::string rfc3339_micro(WallTime time);
// Accepts fractions and offsets; kInvalid otherwise.
Result<WallTime> parse_rfc3339(std::string_view text);

}  // namespace paddle
