// SPDX-License-Identifier: Apache-2.0
//
// Blocks that the source failed to give a moment ago, and why. When a READ fails the kernel asks
// for its first page once more before it tells the reader; that second READ takes the first one's
// answer from here instead of waiting as long again. Thread-safe.

#pragma once

#include <chrono>
#include <optional>
#include <unordered_map>

#include "base/clock.h"
#include "base/result.h"
#include "base/sync.h"
#include "samplefs/block.h"

namespace paddle::samplefs {

class RecentFailures {
 public:
  static constexpr std::chrono::seconds kKept{1};

  explicit RecentFailures(const Clock& clock) : clock_(clock) {}

  // Only what may pass by itself is kept: it took long to find out. Other failures come quickly,
  // and may be over with the next attempt (new keys, a new index).
  void add(const BlockKey& key, const Error& error) EXCLUDES(mutex_);
  std::optional<Error> find(const BlockKey& key) const EXCLUDES(mutex_);

 private:
  struct Failure {
    Error error{};
    BootTime until{};
  };

  const Clock& clock_;
  mutable Mutex mutex_;
  std::unordered_map<BlockKey, Failure, BlockKeyHash> failures_ GUARDED_BY(mutex_);
};

}  // namespace paddle::samplefs
