// SPDX-License-Identifier: Apache-2.0
//
// Cancellation and deadline of one call. The deadline is absolute, so that attempts, pauses and
// fallbacks share it. A value.

#pragma once

#include <chrono>
#include <stop_token>
#include <utility>

#include "base/clock.h"

namespace paddle::source {

struct CallContext {
  // A stop token alone means no deadline.
  CallContext(std::stop_token by = {}, BootTime deadline = BootTime::max())
      : stop(std::move(by)), until(deadline) {}

  std::stop_token stop;
  BootTime until;

  bool limited() const { return until != BootTime::max(); }
  // Remaining time: zero after the deadline, the maximum duration without one.
  std::chrono::nanoseconds left(const Clock& clock) const {
    if (!limited()) return std::chrono::nanoseconds::max();
    const BootTime now = clock.boot();
    return now < until ? until - now : std::chrono::nanoseconds{0};
  }
};

}  // namespace paddle::source
