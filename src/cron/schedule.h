// SPDX-License-Identifier: Apache-2.0
//
// A schedule in the syntax of crontab(5): five fields (minute, hour, day of the month, month, day
// of the week) or @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly. Lists, ranges,
// steps, and names of months and days; 7 is Sunday, too; `?` means `*`. When both days are given,
// one of them has to match. Pure: time and zone are arguments.

#pragma once

#include <bitset>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "cron/zone.h"

namespace paddle::cron {

class Schedule {
 public:
  // kInvalid names the field that is wrong. A leading TZ= is refused: resources have a field for
  // the time zone.
  static Result<Schedule> parse(const std::string& text);

  // The first due time after `after`; nullopt when there is none within eight years.
  std::optional<WallTime> next(WallTime after, const Zone& zone) const;

  // The latest due time after `since` and not after `now`, and the number of due times in between
  // (counted up to kMany): for a controller that was down.
  struct Missed {
    std::optional<WallTime> latest{};
    int count = 0;
  };
  static constexpr int kMany = 100;
  Missed missed(WallTime since, WallTime now, const Zone& zone) const;

 private:
  bool day_matches(std::chrono::sys_days day) const;
  // The first due time of this day after `after`.
  std::optional<WallTime> first_of(std::chrono::sys_days day, WallTime after,
                                   const Zone& zone) const;

  std::bitset<60> minutes_{};
  std::bitset<24> hours_{};
  std::bitset<32> days_{};
  std::bitset<13> months_{};
  std::bitset<7> weekdays_{};
  bool any_hour_ = false;  // "*", with or without steps
  bool any_day_ = false;
  bool any_weekday_ = false;
};

}  // namespace paddle::cron
