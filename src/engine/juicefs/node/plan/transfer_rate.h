// SPDX-License-Identifier: Apache-2.0
//
// How fast something goes and when it will be done, from what it says about itself. Not
// thread-safe.

#pragma once

#include "base/clock.h"
#include "engine/node_engine.h"

namespace paddle::engine::juicefs {

class TransferRate {
 public:
  // The clock outlives it.
  explicit TransferRate(const Clock& clock) : clock_(clock), began_(clock.boot()) {}

  // Fills in bytes_per_second and seconds_left: over the whole time since the first bytes were
  // seen.
  void update(Progress& progress) {
    if (first_ < 0) first_ = progress.bytes_done;
    const std::chrono::duration<double> passed = clock_.boot() - began_;
    const auto bytes = static_cast<double>(progress.bytes_done - first_);
    if (passed.count() < 0.1 || bytes <= 0) return;
    const double rate = bytes / passed.count();
    progress.bytes_per_second = static_cast<std::int64_t>(rate);
    if (progress.bytes_total > progress.bytes_done) {
      const auto left = static_cast<double>(progress.bytes_total - progress.bytes_done);
      progress.seconds_left = static_cast<std::int64_t>(left / rate) + 1;
    }
  }

 private:
  const Clock& clock_;
  const BootTime began_;
  std::int64_t first_ = -1;
};

}  // namespace paddle::engine::juicefs
