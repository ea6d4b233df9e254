// SPDX-License-Identifier: Apache-2.0
//
// The local time of one time zone. From the system's zone files, read by find(); a value
// afterwards.

#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace date {
class time_zone;
}

namespace paddle::cron {

// Minutes since 1970-01-01 00:00 in local time.
using LocalMinutes = std::chrono::duration<std::int64_t, std::ratio<60>>;

class Zone {
 public:
  // "Asia/Shanghai"; empty: UTC. kInvalid when the zone does not exist.
  static Result<Zone> find(const std::string& name);

  LocalMinutes local(WallTime time) const;

  // The times at which the local time is `local`: one; two, the earlier first, when an hour is
  // repeated; or, when an hour is skipped, the time at which it would have begun.
  struct Moments {
    std::vector<WallTime> times{};
    bool skipped = false;
  };
  Moments moments(LocalMinutes local) const;

 private:
  explicit Zone(const date::time_zone* zone) : zone_(zone) {}
  const date::time_zone* zone_;  // owned by the library, never freed; null: UTC
};

}  // namespace paddle::cron
