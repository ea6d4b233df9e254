// SPDX-License-Identifier: Apache-2.0
#include "source/retry.h"

#include <algorithm>

namespace paddle::source {

std::optional<std::chrono::milliseconds> pause_after(const Error& error, int made, double jitter,
                                                     const RetryPolicy& policy) {
  if (made >= policy.attempts || !error.retryable() || error.code == Code::kConflict) return {};
  const int doublings = std::min(made - 1, 20);
  const auto full = std::min(policy.first * (1 << doublings), policy.longest);
  const std::chrono::milliseconds pause{
      static_cast<std::int64_t>(static_cast<double>(full.count()) * (0.5 + jitter / 2))};
  const auto asked = error.retry_after.value_or(std::chrono::milliseconds{0});
  return std::max(pause, std::min(asked, policy.longest_asked));
}

}  // namespace paddle::source
