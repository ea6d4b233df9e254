// SPDX-License-Identifier: Apache-2.0
//
// Speed and remaining time of a transfer, computed from its successive progress. Not thread-safe.

#pragma once

#include "base/clock.h"
#include "engine/node_engine.h"

namespace paddle::engine::juicefs {

class TransferRate {
 public:
  // The clock outlives it.
  explicit TransferRate(const Clock& clock) : clock_(clock), began_(clock.boot()) {}

  // Sets bytes_per_second and seconds_left, averaged over the whole time since the first call.
  // Leaves both alone while nothing has been transferred.
  void update(Progress& progress);

 private:
  const Clock& clock_;
  const BootTime began_;
  std::int64_t first_ = -1;  // bytes that were done before the first call
};

}  // namespace paddle::engine::juicefs
