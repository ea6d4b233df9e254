// SPDX-License-Identifier: Apache-2.0
//
// Limits how many READs wait for the source at once. Further READs are queued as values and hold no
// thread, so that requests which need no source are answered even when the source is slow. The
// queue is FIFO: READs ahead have earlier deadlines, so each one is served by its own deadline. The
// kernel bounds its length: one entry per waiting process, plus max_background. Thread-safe.

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

  // True: run the task now, then call leave(). False: it is queued; a later leave() returns it.
  bool enter(const Task& task) {
    Lock lock(mutex_);
    if (inside_ < limit_) {
      ++inside_;
      return true;
    }
    queue_.push_back(task);
    return false;
  }

  // Returns the next task to run in the caller's slot, or nothing and frees the slot.
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
