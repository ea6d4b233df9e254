// SPDX-License-Identifier: Apache-2.0
//
// When this process last wrote the status of each object, so that writes can be kept apart. Lost
// with the process, which then writes once more. Forget objects that are gone. Thread-safe.

#pragma once

#include <chrono>
#include <map>
#include <optional>

#include "api/core/meta.h"
#include "base/clock.h"
#include "base/sync.h"

namespace paddle::controllers {

class StatusWrites {
 public:
  void written(const api::ObjectKey& key, BootTime now) EXCLUDES(mutex_) {
    Lock lock(mutex_);
    last_[key] = now;
  }
  // Since the last write; absent: there was none.
  std::optional<std::chrono::nanoseconds> since(const api::ObjectKey& key, BootTime now) const
      EXCLUDES(mutex_) {
    Lock lock(mutex_);
    const auto found = last_.find(key);
    if (found == last_.end()) return std::nullopt;
    return now - found->second;
  }
  void forget(const api::ObjectKey& key) EXCLUDES(mutex_) {
    Lock lock(mutex_);
    last_.erase(key);
  }

 private:
  mutable Mutex mutex_;
  std::map<api::ObjectKey, BootTime> last_ GUARDED_BY(mutex_);
};

}  // namespace paddle::controllers
