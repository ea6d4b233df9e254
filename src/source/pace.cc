// SPDX-License-Identifier: Apache-2.0
#include "source/pace.h"

#include <algorithm>

namespace paddle::source {

void Pace::set_rate(std::uint64_t bytes_per_second) {
  Lock lock(mutex_);
  rate_ = bytes_per_second;
}

Result<> Pace::take(std::uint64_t bytes, const CallContext& context) {
  if (context.stop.stop_requested()) return Error{Code::kCancelled, "stopped"};
  if (also_) CHECK_DONE(also_->take(bytes, context));
  std::chrono::nanoseconds wait{0};
  {
    Lock lock(mutex_);
    if (rate_ == 0) return Done{};
    const BootTime now = clock_.boot();
    const std::chrono::nanoseconds cost{
        static_cast<std::int64_t>(static_cast<double>(bytes) * 1e9 / static_cast<double>(rate_))};
    const BootTime earliest = now - kBurst;
    const BootTime begin = std::max(context.limited() ? readers_done_ : all_done_, earliest);
    wait = begin - now;
    if (wait >= context.left(clock_)) {
      return Error{Code::kDeadline, "the rate limit of the source leaves no time for the read"};
    }
    if (context.limited()) readers_done_ = begin + cost;
    all_done_ = std::max(all_done_, earliest) + cost;
  }
  if (wait.count() > 0 && !clock_.sleep(wait, context.stop)) {
    return Error{Code::kCancelled, "stopped while waiting for the rate limit"};
  }
  return Done{};
}

}  // namespace paddle::source
