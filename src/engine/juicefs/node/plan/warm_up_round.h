// SPDX-License-Identifier: Apache-2.0
//
// What follows from one round of a warm-up. JuiceFS says neither which blocks are missing nor why:
// after a round without errors of the storage, what is missing did not find room; after one with
// errors it may be either, so the round is repeated. Pure.

#pragma once

#include <cstdint>

namespace paddle::engine::juicefs {

inline constexpr int kWarmUpRounds = 3;

enum class RoundResult { kComplete, kNoRoom, kRepeat, kFailed };

// `errors`: how many errors the storage had during the round. `rounds`: with this one.
constexpr RoundResult after_round(std::int64_t missing_bytes, double errors, int rounds) {
  if (missing_bytes <= 0) return RoundResult::kComplete;
  if (errors <= 0) return RoundResult::kNoRoom;
  return rounds < kWarmUpRounds ? RoundResult::kRepeat : RoundResult::kFailed;
}

}  // namespace paddle::engine::juicefs
