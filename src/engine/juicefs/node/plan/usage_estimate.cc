// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/plan/usage_estimate.h"

#include <algorithm>

#include "engine/time_limits.h"

namespace paddle::engine::juicefs {
namespace {

constexpr const char* kSilent =  // always the same text: a condition repeats it
    "the JuiceFS client of this node has not answered for 30 seconds or more; see the log of its "
    "mount pod, and delete that pod if the client hangs";
constexpr std::int64_t kFewFiles = 100'000;

}  // namespace

Status shown(Status last, std::chrono::nanoseconds silent) {
  if (silent < kClientSilence) return last;
  last.mounts = 0;
  last.remark = kSilent;
  return last;
}

std::int64_t payload(double blocks, double bytes) {
  constexpr double kPage = 4096;
  const double without = bytes - kPage * blocks;
  const double found = without >= 0 ? without : bytes;  // caches in memory add no page
  return found > 0 && found < 9e18 ? static_cast<std::int64_t>(found) : 0;
}

void update_space(Status& status, std::int64_t limit, std::int64_t held) {
  status.disk_size = limit;
  status.disk_used = std::clamp<std::int64_t>(held, 0, limit);
  status.disk_avail = limit - status.disk_used;
}

Status followed(Status last, std::int64_t before, std::int64_t now, bool filling) {
  const bool emptied = before > 0 && now == 0;
  const auto within = [&](std::int64_t cached, std::int64_t most) {
    const std::int64_t sum = emptied ? 0 : cached + now - before;
    return std::clamp<std::int64_t>(sum, 0, std::max<std::int64_t>(most, 0));
  };
  last.cached_bytes = within(last.cached_bytes, last.index ? last.index->bytes : 0);
  if (filling) last.part_cached_bytes = within(last.part_cached_bytes, last.part_bytes);
  last.part_cached_bytes = std::min(last.part_cached_bytes, last.cached_bytes);
  return last;
}

bool checks_whole(std::int64_t files, std::int64_t part_files) {
  return files <= kFewFiles || part_files == 0 || part_files >= files;
}

std::int64_t cached_of_whole(std::int64_t volume_bytes, std::int64_t part_cached,
                             std::int64_t held) {
  const std::int64_t most = std::max<std::int64_t>(volume_bytes - 1, 0);
  return std::clamp<std::int64_t>(std::max(held, part_cached), 0, most);
}

}  // namespace paddle::engine::juicefs
