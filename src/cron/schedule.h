// SPDX-License-Identifier: Apache-2.0
//
// A schedule as crontab(5) writes it: five fields (minute, hour, day of the month, month, day of
// the week) or @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly. Lists, ranges,
// steps, and names of months and days; 7 is Sunday too; `?` means `*`. When both days are given,
// either will do. Pure: time and zone are arguments.

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
  // kInvalid says which field is not what it should be. TZ= in front is refused: it is a field of
  // its own where schedules are written.
  static Result<Schedule> parse(const std::string& text);

  // The first time that is due after `after`; nothing when none comes within eight years.
  std::optional<WallTime> next(WallTime after, const Zone& zone) const;

  // The latest time that is due after `since` and not after `now`, with how many there are (counted
  // up to kMany): what to do after having been away.
  struct Missed {
    std::optional<WallTime> latest{};
    int count = 0;
  };
  static constexpr int kMany = 100;
  Missed missed(WallTime since, WallTime now, const Zone& zone) const;

 private:
  bool day_matches(std::chrono::sys_days day) const;
  // The first moment after `after` of those that are due on this day.
  std::optional<WallTime> first_of(std::chrono::sys_days day, WallTime after,
                                   const Zone& zone) const;

  std::bitset<60> minutes_{};
  std::bitset<24> hours_{};
  std::bitset<32> days_{};
  std::bitset<13> months_{};
  std::bitset<7> weekdays_{};
  bool any_hour_ = false;  // "*", also with steps
  bool any_day_ = false;
  bool any_weekday_ = false;
};

}  // namespace paddle::cron
