// SPDX-License-Identifier: Apache-2.0
//
// Limits of polling that time limits of controllers depend on. Pure.

#pragma once

#include <chrono>
#include <cstddef>

namespace paddle::controllers {

inline constexpr std::size_t kMostPollsAtOnce = 256;
// After a poll that failed.
inline constexpr std::chrono::seconds kPollRetryInterval{2};
// Without watch() of RuntimePoller for this long an owner is forgotten.
inline constexpr std::chrono::seconds kPollOwnerExpiry{60};

}  // namespace paddle::controllers
