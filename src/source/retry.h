// SPDX-License-Identifier: Apache-2.0
//
// When to ask a source again: back-off that doubles, with jitter, and what the server asked for if
// that is longer. Pure.

#pragma once

#include <chrono>
#include <optional>

#include "base/result.h"

namespace paddle::source {

struct RetryPolicy {
  int attempts = 7;  // in all: gives up after about 13 s of pauses
  std::chrono::milliseconds first{200};
  std::chrono::milliseconds longest{5'000};
  std::chrono::milliseconds longest_asked{30'000};  // of a Retry-After
};

// The pause before the next attempt, nothing when there is to be none. `made` counts the attempts
// so far, `jitter` is in [0, 1). A changed object (kConflict) is never asked for again: the answer
// would stay the same.
std::optional<std::chrono::milliseconds> pause_after(const Error& error, int made, double jitter,
                                                     const RetryPolicy& policy);

}  // namespace paddle::source
