// SPDX-License-Identifier: Apache-2.0
//
// How much of an index is in the store: a walk over all its blocks, so the last amount is given
// again while nothing has changed, and for a while when a walk takes long. Thread-safe.

#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/sync.h"
#include "samplefs/index.h"
#include "samplefs/store.h"

namespace paddle::engine::samplefs {

class CacheCoverage {
 public:
  struct Amount {
    std::int64_t files = 0;  // as a whole
    std::int64_t bytes = 0;
  };
  Amount of(const std::shared_ptr<const ::paddle::samplefs::Index>& index,
            const ::paddle::samplefs::Store& store, const Clock& clock = system_clock())
      EXCLUDES(mutex_);
  // A job has ended: the next amount is not one from before.
  void invalidate() EXCLUDES(mutex_);

 private:
  Mutex mutex_;
  std::shared_ptr<const ::paddle::samplefs::Index> index_ GUARDED_BY(mutex_);
  std::uint64_t blocks_ GUARDED_BY(mutex_) = 0;
  std::uint64_t stored_ GUARDED_BY(mutex_) = 0;
  BootTime next_ GUARDED_BY(mutex_){};
  Amount amount_ GUARDED_BY(mutex_){};
};

}  // namespace paddle::engine::samplefs
