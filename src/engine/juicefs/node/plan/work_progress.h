// SPDX-License-Identifier: Apache-2.0
//
// What follows from the progress of work: its speed and remaining time, whether it stands still,
// and what comes after a round of a warm-up. Pure; clocks and times are arguments. Not thread-safe.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "engine/node_engine.h"

namespace paddle::engine::juicefs {

// Speed and remaining time of a transfer, computed from its successive progress.
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

// Whether work stands still: its progress has not changed for a time limit.
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

// JuiceFS says neither which blocks are missing nor why: after a round of a warm-up without errors
// of the storage, what is missing did not find room; after one with errors it may be either, so the
// round is repeated.
inline constexpr int kWarmUpRounds = 3;

enum class RoundResult { kComplete, kNoRoom, kRepeat, kFailed };

// `errors`: how many errors the storage had during the round. `rounds`: with this one.
constexpr RoundResult after_round(std::int64_t missing_bytes, double errors, int rounds) {
  if (missing_bytes <= 0) return RoundResult::kComplete;
  if (errors <= 0) return RoundResult::kNoRoom;
  return rounds < kWarmUpRounds ? RoundResult::kRepeat : RoundResult::kFailed;
}

}  // namespace paddle::engine::juicefs
