// SPDX-License-Identifier: Apache-2.0
//
// The retry policy of sources: exponential back-off with jitter, or the server's Retry-After if
// that is longer. Pure.

#pragma once

#include <chrono>
#include <optional>

#include "base/result.h"

namespace paddle::source {

struct RetryPolicy {
  int attempts = 7;  // in total; gives up after pauses of about 13 s
  std::chrono::milliseconds first{200};
  std::chrono::milliseconds longest{5'000};
  std::chrono::milliseconds longest_asked{30'000};  // limit of a Retry-After
};

// Returns the pause before the next attempt, or nothing to give up. `made` counts the attempts so
// far, `jitter` is in [0, 1). A changed object (kConflict) is not retried: the result would be the
// same.
std::optional<std::chrono::milliseconds> pause_after(const Error& error, int made, double jitter,
                                                     const RetryPolicy& policy);

}  // namespace paddle::source
