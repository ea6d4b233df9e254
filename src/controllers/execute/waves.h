// SPDX-License-Identifier: Apache-2.0
//
// Executes the waves of a plan: one after the other, the actions of a wave in parallel. After a
// failure no further action starts; the first failure is the result.

#pragma once

#include <cstddef>

#include "base/parallel_for.h"
#include "base/result.h"
#include "controllers/plan/plan.h"

namespace paddle::controllers {

inline constexpr std::size_t kParallelActions = 16;

// `execute(action, i)` is called for the i-th action of the wave, from several threads.
template <typename Wave, typename Execute>
Result<> execute_wave(const Wave& wave, const Execute& execute) {
  return parallel_for(wave.size(), kParallelActions,
                      [&](std::size_t i) { return execute(wave[i], i); });
}

template <typename Action, typename Status, typename Execute>
Result<> execute_waves(const PlanOf<Action, Status>& plan, const Execute& execute) {
  for (const auto& wave : plan.waves) CHECK_DONE(execute_wave(wave, execute));
  return Done{};
}

}  // namespace paddle::controllers
