// SPDX-License-Identifier: Apache-2.0
//
// Any text as a schedule: refused, or its due times come in order and soon.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "cron/schedule.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace paddle;
  if (size == 0) return 0;
  const auto schedule =
      cron::Schedule::parse(std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  if (!schedule) return 0;
  static const cron::Zone zones[] = {*cron::Zone::find(""), *cron::Zone::find("America/New_York")};
  const cron::Zone& zone = zones[data[0] % 2];
  const WallTime start{std::chrono::hours{24 * 365 * (30 + data[0] % 40)}};
  WallTime after = start;
  for (int i = 0; i < 3; ++i) {
    const auto due = schedule->next(after, zone);
    if (!due) return 0;
    if (*due <= after) std::abort();
    after = *due;
  }
  const auto missed = schedule->missed(start, after, zone);
  if (missed.count < 3 || missed.latest != after) std::abort();
  return 0;
}
