// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/cache_limit.h"

#include <algorithm>
#include <limits>

namespace paddle::engine::samplefs {

CacheLimit cache_limit(std::uint64_t wanted_mib, const Disk& disk) {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
  const std::uint64_t most = disk.avail + std::min(disk.cached, disk.size);
  if (wanted_mib == 0) return {.bytes = most / 10 * 9, .notice = {}};
  const std::uint64_t wanted =
      wanted_mib > std::numeric_limits<std::uint64_t>::max() / kMiB ? most + 1 : wanted_mib * kMiB;
  if (wanted <= most) return {.bytes = wanted, .notice = {}};
  return {.bytes = most,
          .notice = "the disk has room for a cache of " + std::to_string(most / kMiB) +
                    " MiB only, not of " + std::to_string(wanted_mib) +
                    " MiB; give it a larger disk or a smaller limit"};
}

}  // namespace paddle::engine::samplefs
