// SPDX-License-Identifier: Apache-2.0
//
// Immutable files (FS_IMMUTABLE_FL): no process can write, punch, truncate or remove them, not even
// through descriptors that were opened before. Needs CAP_LINUX_IMMUTABLE. ext4, xfs, btrfs and
// (since Linux 6.6) tmpfs have the flag; overlay does not.
//
// ImmutableSegments counts the views that use a segment: the first makes it immutable, the last
// lifts the flag. It knows only its own process: what an earlier one left is lifted by
// lift_leftovers() before the first view. Thread-safe.

#pragma once

#include <map>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/sync.h"
#include "base/unique_fd.h"

namespace paddle::sealed {

// 0 or an errno.
int set_immutable(int file, bool immutable);
Result<bool> is_immutable(int file);

class ImmutableSegments {
 public:
  // Keeps a descriptor of its own until the last release.
  Result<> hold(int segment) EXCLUDES(mutex_);
  void release(int segment) EXCLUDES(mutex_);
  std::size_t held() const EXCLUDES(mutex_);

  using Identity = std::pair<std::uint64_t, std::uint64_t>;  // device, inode
  static Result<Identity> identity_of(int file);

  // Lifts the flag of all regular files in a directory that no view here holds. Returns how many.
  // REQUIRES: views that an earlier process left mounted were adopted (sealed_view.h), or have
  // ended.
  Result<int> lift_leftovers(int directory) EXCLUDES(mutex_);

 private:
  struct Held {
    UniqueFd file{};
    int views = 0;
  };

  mutable Mutex mutex_;
  std::map<Identity, Held> held_ GUARDED_BY(mutex_);
};

}  // namespace paddle::sealed
