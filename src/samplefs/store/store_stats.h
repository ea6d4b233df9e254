// SPDX-License-Identifier: Apache-2.0
//
// What a store has and did. Reading it costs no walk. Pure.

#pragma once

#include <cstdint>
#include <string>

namespace paddle::samplefs {

struct StoreStats {
  std::uint64_t limit = 0;
  std::uint64_t used = 0;    // on disk: segments and slot tables
  std::uint64_t blocks = 0;  // complete once all tiers were counted
  std::uint64_t bytes = 0;   // of the blocks' data
  bool counted = true;       // all tiers were
  std::uint64_t bytes_served = 0;
  std::uint64_t bytes_stored = 0;  // since start
  std::uint64_t refused = 0;       // no room
  std::uint64_t damaged = 0;       // dropped instead of served
  std::uint64_t unreadable = 0;    // dropped because the disk could not read them
  int unreadable_errno = 0;        // errno of the last of them
  std::uint64_t write_failures = 0;
  std::uint64_t scrubbed = 0;  // bytes that the scrub has read, since start
  std::uint64_t held = 0;      // bytes of dropped blocks in sealed segments
  std::string degraded{};      // a sentence: why nothing can be stored now, though there is room
  std::string notice{};        // a sentence: what happened to an earlier content
};

}  // namespace paddle::samplefs
