// SPDX-License-Identifier: Apache-2.0
//
// Cancellation and deadline of one call, and what the caller knows of the object besides its
// version. The deadline is absolute, so that attempts, pauses and fallbacks share it. A value.

#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string_view>
#include <utility>

#include "base/clock.h"

namespace paddle::source {

// As the listing returned it. A read needs none of it: the size lets a source check the body of a
// whole object, and the version id find a version that was overwritten.
struct ObjectFacts {
  std::uint64_t size = 0;         // 0: not known
  std::string_view version_id{};  // the caller's; empty: none
};

struct CallContext {
  // A stop token alone means no deadline.
  CallContext(std::stop_token by = {}, BootTime deadline = BootTime::max())
      : stop(std::move(by)), until(deadline) {}

  std::stop_token stop;
  BootTime until;
  ObjectFacts object{};

  bool limited() const { return until != BootTime::max(); }
  // Remaining time: zero after the deadline, the maximum duration without one.
  std::chrono::nanoseconds left(const Clock& clock) const {
    if (!limited()) return std::chrono::nanoseconds::max();
    const BootTime now = clock.boot();
    return now < until ? until - now : std::chrono::nanoseconds{0};
  }
};

}  // namespace paddle::source
