// SPDX-License-Identifier: Apache-2.0
//
// Blocks whose download failed a moment ago, with the error. When a READ fails, the kernel requests
// its first page again before it fails the reader; the second READ returns the first one's error
// instead of waiting as long again. Thread-safe.

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

  // Keeps retryable errors only: they took long to detect. Other errors are detected quickly and
  // may be fixed at the next attempt (new credentials, a new index).
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
