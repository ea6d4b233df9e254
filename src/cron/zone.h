// SPDX-License-Identifier: Apache-2.0
//
// What clocks on the wall show in one time zone. From the system's zone files, read at find();
// a value afterwards.

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

// Minutes since 1970-01-01 00:00 as the clock on the wall counts them.
using LocalMinutes = std::chrono::duration<std::int64_t, std::ratio<60>>;

class Zone {
 public:
  // "Asia/Shanghai"; empty: UTC. kInvalid: nobody knows that zone.
  static Result<Zone> find(const std::string& name);

  LocalMinutes local(WallTime time) const;

  // When the clock shows `local`: once; twice, the earlier first, when an hour comes again; or,
  // when an hour is left out, the moment at which it would have come.
  struct Moments {
    std::vector<WallTime> times{};
    bool left_out = false;
  };
  Moments moments(LocalMinutes local) const;

 private:
  explicit Zone(const date::time_zone* zone) : zone_(zone) {}
  const date::time_zone* zone_;  // owned by the library, for ever; null: UTC
};

}  // namespace paddle::cron
