// SPDX-License-Identifier: Apache-2.0
//
// How much of an index is in the store. Measuring walks over all blocks of the index, so the last
// result is returned while nothing has changed and, when a walk takes long, for some time.
// Thread-safe.

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
    std::int64_t files = 0;  // wholly cached
    std::int64_t bytes = 0;
  };
  Amount of(const std::shared_ptr<const ::paddle::samplefs::Index>& index,
            const ::paddle::samplefs::Store& store, const Clock& clock = system_clock())
      EXCLUDES(mutex_);
  // After a job: the next call measures again.
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
