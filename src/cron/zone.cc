// SPDX-License-Identifier: Apache-2.0
#include "cron/zone.h"

#include <date/tz.h>

namespace paddle::cron {

Result<Zone> Zone::find(const std::string& name) {
  if (name.empty() || name == "UTC" || name == "Etc/UTC") return Zone(nullptr);
  // The library throws for a name that it does not have.
  try {
    return Zone(date::locate_zone(name));
  } catch (const std::exception&) {
    return Error{Code::kInvalid,
                 "'" + name + "' is not a time zone; give one such as Asia/Shanghai"};
  }
}

LocalMinutes Zone::local(WallTime time) const {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto offset = zone_ ? zone_->get_info(seconds).offset : std::chrono::seconds(0);
  return std::chrono::floor<LocalMinutes>(seconds.time_since_epoch() + offset);
}

Zone::Moments Zone::moments(LocalMinutes local) const {
  const std::chrono::seconds shown = local;
  if (!zone_) return {.times = {WallTime(shown)}};
  const auto info = zone_->get_info(date::local_seconds(shown));
  if (info.result == date::local_info::nonexistent) {
    return {.times = {WallTime(info.first.end.time_since_epoch())}, .skipped = true};
  }
  Moments all{.times = {WallTime(shown - info.first.offset)}};
  if (info.result == date::local_info::ambiguous) {
    all.times.push_back(WallTime(shown - info.second.offset));
  }
  return all;
}

}  // namespace paddle::cron
