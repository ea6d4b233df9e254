// SPDX-License-Identifier: Apache-2.0
//
// Whether work stands still: its progress has not changed for a time limit. Pure; the caller gives
// the time.

#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace paddle::engine::juicefs {

class ProgressWatch {
 public:
  explicit ProgressWatch(std::chrono::nanoseconds limit) : limit_(limit) {}

  // `progress` is any number that changes whenever something was done. The first call starts the
  // time.
  bool stands_still(std::int64_t progress, BootTime now) {
    if (progress != last_) {
      last_ = progress;
      since_ = now;
    }
    return now - since_ >= limit_;
  }

 private:
  const std::chrono::nanoseconds limit_;
  std::optional<std::int64_t> last_{};
  BootTime since_{};
};

}  // namespace paddle::engine::juicefs
