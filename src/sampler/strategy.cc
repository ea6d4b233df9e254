// SPDX-License-Identifier: Apache-2.0
#include "sampler/strategy.h"

namespace paddle::sampler {

std::vector<std::uint32_t> part_of(std::uint32_t count, std::int32_t partition,
                                   std::int32_t partitions, const Strategy&) {
  std::vector<std::uint32_t> part;
  const auto step = static_cast<std::uint32_t>(partitions < 1 ? 1 : partitions);
  for (std::uint64_t i = static_cast<std::uint32_t>(partition); i < count; i += step) {
    part.push_back(static_cast<std::uint32_t>(i));
  }
  return part;
}

}  // namespace paddle::sampler
