// SPDX-License-Identifier: Apache-2.0
//
// Pauses that double. A pure function: no clock, no randomness, no state.

#pragma once

#include <algorithm>
#include <chrono>

namespace paddle {

// The pause before an action is repeated that has failed `attempt` times in a row: `first` after
// the first failure, twice as long after each further one, at most `longest`.
constexpr std::chrono::nanoseconds backoff(std::chrono::nanoseconds first, int attempt,
                                           std::chrono::nanoseconds longest) {
  constexpr std::chrono::nanoseconds kZero{0};
  std::chrono::nanoseconds pause = std::min(first, longest);
  for (int i = 1; i < attempt && pause > kZero && pause < longest; ++i) {
    pause = pause > longest / 2 ? longest : pause * 2;
  }
  return pause;
}

}  // namespace paddle
