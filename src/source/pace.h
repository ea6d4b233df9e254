// SPDX-License-Identifier: Apache-2.0
//
// The rate budget of one source, in bytes per second, shared by everything that transfers from it:
// reads, fill and listings. Callers with a deadline (readers) wait only for what readers have
// taken; what they take delays the others, so that the sum keeps to the rate.
//
// Thread-safe; no lock is held while a caller waits.

#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/sync.h"
#include "source/source.h"

namespace paddle::source {

class Pace final : public RateLimiter {
 public:
  // What an idle source may transfer at once: the bytes of this time.
  static constexpr std::chrono::milliseconds kBurst{200};

  // Of 0 bytes per second: no limit. What is taken is taken from `also`, too.
  explicit Pace(std::uint64_t bytes_per_second, const Clock& clock = system_clock(),
                std::shared_ptr<RateLimiter> also = {})
      : clock_(clock), also_(std::move(also)), rate_(bytes_per_second) {}

  void set_rate(std::uint64_t bytes_per_second) EXCLUDES(mutex_);
  Result<> take(std::uint64_t bytes, const CallContext& context) override EXCLUDES(mutex_);

 private:
  const Clock& clock_;
  const std::shared_ptr<RateLimiter> also_;
  Mutex mutex_;
  std::uint64_t rate_ GUARDED_BY(mutex_);
  // When everything that was taken so far has been transferred: by readers, and by all.
  BootTime readers_done_ GUARDED_BY(mutex_) = BootTime::min();
  BootTime all_done_ GUARDED_BY(mutex_) = BootTime::min();
};

}  // namespace paddle::source
