// SPDX-License-Identifier: Apache-2.0
//
// Bounds the bytes that are in memory for downloads: who wants some waits until they fit. Readers
// come before the background; within a kind the first come first. So a large request is not
// overtaken for ever by small ones, and the background never delays a reader by more than what it
// holds already.
//
// A holder must not wait for more while it holds some. A request beyond the limit is granted when
// nothing else is held. Thread-safe; the budget outlives its holds.

#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/sync.h"
#include "source/call_context.h"

namespace paddle::samplefs {

class ByteBudget {
 public:
  class Hold {
   public:
    Hold() = default;
    Hold(ByteBudget* budget, std::uint64_t bytes) : budget_(budget), bytes_(bytes) {}
    Hold(Hold&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}
    Hold& operator=(Hold&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Hold() { release(); }
    explicit operator bool() const { return budget_ != nullptr; }
    void release() {
      if (ByteBudget* of = std::exchange(budget_, nullptr)) of->give_back(bytes_);
    }

   private:
    ByteBudget* budget_ = nullptr;
    std::uint64_t bytes_ = 0;
  };
  enum class Priority { kReader, kBackground };

  explicit ByteBudget(std::uint64_t limit, const Clock& clock = system_clock())
      : limit_(limit), clock_(clock) {}

  // Nothing: stopped, or the deadline passed.
  std::optional<Hold> take(std::uint64_t bytes, Priority priority,
                           const source::CallContext& context) EXCLUDES(mutex_);

  std::uint64_t limit() const { return limit_; }
  std::uint64_t held() const EXCLUDES(mutex_);
  std::uint64_t peak() const EXCLUDES(mutex_);  // the most that was ever held
  std::size_t waiting() const EXCLUDES(mutex_);

 private:
  struct Waiter {
    std::uint64_t bytes = 0;
    bool granted = false;
  };
  void give_back(std::uint64_t bytes) EXCLUDES(mutex_);
  bool fits(std::uint64_t bytes) const REQUIRES(mutex_) {
    return held_ == 0 || held_ + bytes <= limit_;
  }
  void grant() REQUIRES(mutex_);

  const std::uint64_t limit_;
  const Clock& clock_;
  mutable Mutex mutex_;  // innermost
  CondVar changed_;
  std::list<Waiter*> readers_ GUARDED_BY(mutex_);
  std::list<Waiter*> background_ GUARDED_BY(mutex_);
  std::uint64_t held_ GUARDED_BY(mutex_) = 0;
  std::uint64_t peak_ GUARDED_BY(mutex_) = 0;
};

}  // namespace paddle::samplefs
