// SPDX-License-Identifier: Apache-2.0
//
// How many READs may wait for the source at once. The ones beyond wait here as values instead of
// holding a thread, so that everything that needs no source is answered however slow it is. First
// come, first served: those ahead have earlier deadlines, so that every one gets its turn by its
// own. The kernel bounds the queue: one entry per waiting process, plus max_background.
// Thread-safe.

#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "base/sync.h"

namespace paddle::fuse {

template <typename Task>
class ReadGate {
 public:
  explicit ReadGate(std::size_t limit) : limit_(limit) {}

  // True: do it now, then leave(). False: it is kept and somebody's leave() will return it.
  bool enter(const Task& task) {
    Lock lock(mutex_);
    if (inside_ < limit_) {
      ++inside_;
      return true;
    }
    queue_.push_back(task);
    return false;
  }

  // The next one to do, on the same place; or nothing, and the place is free.
  std::optional<Task> leave() {
    Lock lock(mutex_);
    if (queue_.empty()) {
      --inside_;
      return std::nullopt;
    }
    std::optional<Task> next(std::move(queue_.front()));
    queue_.pop_front();
    return next;
  }

  std::size_t queued() const {
    Lock lock(mutex_);
    return queue_.size();
  }

 private:
  const std::size_t limit_;
  mutable Mutex mutex_;
  std::size_t inside_ GUARDED_BY(mutex_) = 0;
  std::deque<Task> queue_ GUARDED_BY(mutex_);
};

}  // namespace paddle::fuse
