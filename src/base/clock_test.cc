// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <thread>

#include <gtest/gtest.h>

namespace paddle {
namespace {

using namespace std::chrono_literals;

TEST(Rfc3339, RoundTripsSecondsAndMicroseconds) {
  const WallTime time{std::chrono::sys_days{std::chrono::year{2026} / 2 / 28} + 23h + 59min + 58s +
                      7us};
  EXPECT_EQ(rfc3339(time), "2026-02-28T23:59:58Z");
  EXPECT_EQ(rfc3339_micro(time), "2026-02-28T23:59:58.000007Z");
  EXPECT_EQ(*parse_rfc3339("2026-02-28T23:59:58.000007Z"), time);
}

TEST(Rfc3339, UnderstandsOffsetsAndLongFractions) {
  EXPECT_EQ(*parse_rfc3339("2026-01-01T08:00:00+08:00"), *parse_rfc3339("2026-01-01T00:00:00Z"));
  EXPECT_EQ(*parse_rfc3339("2025-12-31T19:30:00-04:30"), *parse_rfc3339("2026-01-01T00:00:00Z"));
  EXPECT_EQ(*parse_rfc3339("2026-01-01T00:00:00.123456789Z"),
            *parse_rfc3339("2026-01-01T00:00:00.123456Z"));
}

TEST(Rfc3339, RefusesWhatIsNotATime) {
  for (const char* text :
       {"", "2026", "2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:00:00",
        "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00Zx", "2026-01-01 00:00:00Z",
        "2026-01-01T00:00:00+0800", "2026-01-01T00:00:00+9"}) {
    EXPECT_TRUE(parse_rfc3339(text).is(Code::kInvalid)) << text;
  }
}

TEST(SystemClock, SleepEndsAtOnceWhenStopped) {
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_FALSE(system_clock().sleep(1h, stop.get_token()));
}

TEST(ManualClock, WallMayJumpWhileBootDoesNot) {
  ManualClock clock;
  const auto wall = clock.wall();
  const auto boot = clock.boot();
  clock.step_wall(-1h);
  EXPECT_EQ(clock.wall(), wall - 1h);
  EXPECT_EQ(clock.boot(), boot);
  clock.advance(5s);
  EXPECT_EQ(clock.boot(), boot + 5s);
}

}  // namespace
}  // namespace paddle
