// SPDX-License-Identifier: Apache-2.0
#include "cron/schedule.h"

#include <gtest/gtest.h>

namespace paddle::cron {
namespace {

WallTime at(const std::string& text) {
  const auto parsed = parse_rfc3339(text + ":00Z");
  EXPECT_TRUE(parsed) << text;
  return *parsed;
}

std::string shown(std::optional<WallTime> time) {
  return time ? rfc3339(*time).substr(0, 16) : "never";
}

std::string next(const std::string& schedule, const std::string& after,
                 const std::string& zone = "") {
  const auto parsed = Schedule::parse(schedule);
  const auto found = Zone::find(zone);
  if (!parsed || !found) return (parsed ? found.error() : parsed.error()).message;
  return shown(parsed->next(at(after), *found));
}

TEST(Schedule, NextIsTheFirstMatchingMinuteAndNeverNow) {
  EXPECT_EQ(next("* * * * *", "2026-11-16T06:00"), "2026-11-16T06:01");
  EXPECT_EQ(next("0 * * * *", "2026-11-16T06:00"), "2026-11-16T07:00");
  EXPECT_EQ(next("30 2 * * *", "2026-11-16T02:29"), "2026-11-16T02:30");
  EXPECT_EQ(next("30 2 * * *", "2026-11-16T02:30"), "2026-11-17T02:30");
  EXPECT_EQ(next("59 23 31 12 *", "2026-11-16T00:00"), "2026-12-31T23:59");
  EXPECT_EQ(next("0 0 1 1 *", "2026-11-16T00:00"), "2027-01-01T00:00");
}

TEST(Schedule, SupportsListsRangesStepsAndNames) {
  EXPECT_EQ(next("*/15 * * * *", "2026-11-16T06:16"), "2026-11-16T06:30");
  EXPECT_EQ(next("5,50 6-8 * * *", "2026-11-16T06:06"), "2026-11-16T06:50");
  EXPECT_EQ(next("0 8-18/4 * * *", "2026-11-16T12:00"), "2026-11-16T16:00");
  EXPECT_EQ(next("10/20 * * * *", "2026-11-16T06:31"), "2026-11-16T06:50");
  EXPECT_EQ(next("0 0 * jan,JUN Mon-Fri", "2026-11-16T00:00"), "2027-01-01T00:00");
  EXPECT_EQ(next("0 0 ? * sun", "2026-11-16T00:00"), "2026-11-22T00:00");
  EXPECT_EQ(next("0 0 * * 7", "2026-11-16T00:00"), "2026-11-22T00:00");
}

TEST(Schedule, OneOfBothDaysHasToMatch) {
  EXPECT_EQ(next("0 0 20 * fri", "2026-11-16T00:00"), "2026-11-20T00:00");  // both
  EXPECT_EQ(next("0 0 25 * fri", "2026-11-20T00:00"), "2026-11-25T00:00");
  EXPECT_EQ(next("0 0 25 * fri", "2026-11-25T00:00"), "2026-11-27T00:00");
  EXPECT_EQ(next("0 0 13 * *", "2026-11-16T00:00"), "2026-12-13T00:00");
}

TEST(Schedule, RareDaysAreFoundAndImpossibleOnesAreNot) {
  EXPECT_EQ(next("0 0 29 2 *", "2026-11-16T00:00"), "2028-02-29T00:00");
  EXPECT_EQ(next("0 0 29 2 *", "2096-03-01T00:00"), "2104-02-29T00:00");
  EXPECT_EQ(next("0 0 31 2 *", "2026-11-16T00:00"), "never");
  EXPECT_EQ(next("0 0 31 * *", "2026-11-16T00:00"), "2026-12-31T00:00");
}

TEST(Schedule, ShortFormsAreExpanded) {
  EXPECT_EQ(next("@hourly", "2026-11-16T06:16"), "2026-11-16T07:00");
  EXPECT_EQ(next("@daily", "2026-11-16T06:16"), "2026-11-17T00:00");
  EXPECT_EQ(next("@midnight", "2026-11-16T06:16"), "2026-11-17T00:00");
  EXPECT_EQ(next("@weekly", "2026-11-16T06:16"), "2026-11-22T00:00");
  EXPECT_EQ(next("@monthly", "2026-11-16T06:16"), "2026-12-01T00:00");
  EXPECT_EQ(next("@yearly", "2026-11-16T06:16"), "2027-01-01T00:00");
  EXPECT_EQ(next("@annually", "2026-11-16T06:16"), "2027-01-01T00:00");
}

TEST(Schedule, AnErrorNamesTheWrongField) {
  for (const char* bad : {"",
                          "* * * *",
                          "* * * * * *",
                          "60 * * * *",
                          "* 24 * * *",
                          "* * 0 * *",
                          "* * 32 * *",
                          "* * * 13 *",
                          "* * * * 8",
                          "5-1 * * * *",
                          "*/0 * * * *",
                          "*/x * * * *",
                          "1-2-3 * * * *",
                          "1/2/3 * * * *",
                          "a * * * *",
                          "-1 * * * *",
                          "1,,2 * * * *",
                          "@reboot",
                          "@",
                          "99999999999 * * * *",
                          "TZ=UTC 0 0 * * *",
                          "* * * foo *"}) {
    const auto parsed = Schedule::parse(bad);
    ASSERT_TRUE(parsed.is(Code::kInvalid)) << bad;
    EXPECT_GT(parsed.error().message.size(), 20u);
  }
  EXPECT_NE(Schedule::parse("60 * * * *").error().message.find("minute"), std::string::npos);
  EXPECT_TRUE(Zone::find("Mars/Olympus").is(Code::kInvalid));
}

TEST(Schedule, FollowsTheZone) {
  EXPECT_EQ(next("0 9 * * *", "2026-11-16T00:30", "Asia/Shanghai"), "2026-11-16T01:00");
  EXPECT_EQ(next("0 0 1 * *", "2026-11-30T15:00", "Asia/Shanghai"), "2026-11-30T16:00");
  EXPECT_EQ(next("0 0 * * mon", "2026-11-16T04:00", "America/New_York"), "2026-11-16T05:00");
  EXPECT_EQ(next("15 12 * * *", "2026-11-16T00:00", "Asia/Kathmandu"), "2026-11-16T06:30");
}

TEST(Schedule, ATimeInASkippedHourIsDueAtItsEnd) {
  // New York goes from 01:59 EST to 03:00 EDT on 2027-03-14, at 07:00 UTC.
  EXPECT_EQ(next("30 2 * * *", "2027-03-14T05:00", "America/New_York"), "2027-03-14T07:00");
  EXPECT_EQ(next("30 2 * * *", "2027-03-14T07:00", "America/New_York"), "2027-03-15T06:30");
  // Every half hour: the hours that pass.
  EXPECT_EQ(next("30 * * * *", "2027-03-14T06:30", "America/New_York"), "2027-03-14T07:30");
}

TEST(Schedule, ATimeInARepeatedHourIsDueOnce) {
  // New York comes from 01:59 EDT to 01:00 EST on 2026-11-01, at 06:00 UTC.
  EXPECT_EQ(next("30 1 * * *", "2026-11-01T05:00", "America/New_York"), "2026-11-01T05:30");
  EXPECT_EQ(next("30 1 * * *", "2026-11-01T05:30", "America/New_York"), "2026-11-02T06:30");
  EXPECT_EQ(next("30 * * * *", "2026-11-01T05:30", "America/New_York"), "2026-11-01T06:30");
}

TEST(Schedule, MissedTimesAreCountedAndOnlyTheLatestMatters) {
  const auto zone = *Zone::find("");
  const auto hourly = *Schedule::parse("@hourly");
  auto missed = hourly.missed(at("2026-11-16T06:00"), at("2026-11-16T06:59"), zone);
  EXPECT_EQ(missed.count, 0);
  missed = hourly.missed(at("2026-11-16T06:00"), at("2026-11-16T09:00"), zone);
  EXPECT_EQ(missed.count, 3);
  EXPECT_EQ(shown(missed.latest), "2026-11-16T09:00");
  missed = hourly.missed(at("2020-01-01T00:00"), at("2026-11-16T06:16"), zone);
  EXPECT_EQ(missed.count, Schedule::kMany);
  EXPECT_EQ(shown(missed.latest), "2026-11-16T06:00");
  // Far more than it counts, and none of late.
  const auto by_day = *Schedule::parse("*/5 9-17 * * *");
  missed = by_day.missed(at("2026-11-15T17:55"), at("2026-11-16T19:00"), zone);
  EXPECT_EQ(shown(missed.latest), "2026-11-16T17:55");
  // A clock that was set back has missed nothing.
  EXPECT_EQ(hourly.missed(at("2026-11-16T09:00"), at("2026-11-16T06:00"), zone).count, 0);
}

}  // namespace
}  // namespace paddle::cron
