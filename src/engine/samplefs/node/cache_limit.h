// SPDX-License-Identifier: Apache-2.0
//
// How much a cache may take of its disk. Pure.

#pragma once

#include <cstdint>
#include <string>

namespace paddle::engine::samplefs {

struct Disk {
  std::uint64_t size = 0;
  std::uint64_t avail = 0;   // to us, now
  std::uint64_t cached = 0;  // what the cache has of it already
};

struct CacheLimit {
  std::uint64_t bytes = 0;
  std::string notice{};  // one sentence when it is not what was asked for
};

// `wanted_mib` 0: 90 % of what is free or ours already. More than the disk can hold is clipped.
CacheLimit cache_limit(std::uint64_t wanted_mib, const Disk& disk);

}  // namespace paddle::engine::samplefs
