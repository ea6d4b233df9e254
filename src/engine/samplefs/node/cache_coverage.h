// SPDX-License-Identifier: Apache-2.0
//
// How much of an index is in the store. Measuring walks over all blocks of the index, so it is done
// by jobs and in the background; last() returns at once. Thread-safe.

#pragma once

#include <cstdint>
#include <memory>

#include "base/sync.h"
#include "samplefs/index.h"
#include "samplefs/store/store.h"

namespace paddle::engine::samplefs {

class CacheCoverage {
 public:
  struct Amount {
    std::int64_t files = 0;  // wholly cached
    std::int64_t bytes = 0;
  };
  // Nothing was measured of that index yet: the latest amount of another, or 0.
  Amount last() const EXCLUDES(mutex_);
  // Whether the latest measurement was of that index and found all of its files.
  bool is_complete(const std::shared_ptr<const ::paddle::samplefs::Index>& index) const
      EXCLUDES(mutex_);
  void measure(const std::shared_ptr<const ::paddle::samplefs::Index>& index,
               const ::paddle::samplefs::Store& store) EXCLUDES(mutex_);
  // Whether the index or the contents of the store have changed since.
  bool is_stale(const std::shared_ptr<const ::paddle::samplefs::Index>& index,
                const ::paddle::samplefs::Store& store) const EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;  // not held during a walk
  std::shared_ptr<const ::paddle::samplefs::Index> index_ GUARDED_BY(mutex_);
  std::uint64_t blocks_ GUARDED_BY(mutex_) = 0;
  std::uint64_t stored_ GUARDED_BY(mutex_) = 0;
  std::uint64_t walks_ GUARDED_BY(mutex_) = 0;   // begun
  std::uint64_t latest_ GUARDED_BY(mutex_) = 0;  // the walk that amount_ is of
  Amount amount_ GUARDED_BY(mutex_){};
};

}  // namespace paddle::engine::samplefs
