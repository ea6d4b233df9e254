// SPDX-License-Identifier: Apache-2.0
#include "kube/wire/retry.h"

#include <algorithm>

namespace paddle::kube {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

milliseconds throttle_pause(const std::optional<milliseconds>& retry_after) {
  return std::clamp(retry_after.value_or(1s), milliseconds{100}, milliseconds{60s});
}

std::optional<milliseconds> pause_before_retry(const Refusal& refusal) {
  if (refusal.attempt >= kMaxAttempts) return std::nullopt;
  const bool requested = refusal.retry_after.has_value();
  const bool not_processed = refusal.status == 429 || (refusal.status == 503 && requested);
  const bool harmless = refusal.read_only && refusal.status >= 500 && requested;
  if (!not_processed && !harmless) return std::nullopt;

  const milliseconds base = std::max(refusal.retry_after.value_or(1s), milliseconds{100});
  const auto more =
      static_cast<std::int64_t>(refusal.random * 0.25 * static_cast<double>(base.count()));
  const milliseconds pause = base + milliseconds{more};
  if (pause >= refusal.left) return std::nullopt;
  return pause;
}

void ThrottleGate::close(const std::string& resource, milliseconds pause) {
  const BootTime until = clock_.boot() + pause;
  const Lock lock(mutex_);
  BootTime& closed = closed_until_[resource];
  closed = std::max(closed, until);
}

milliseconds ThrottleGate::wait_for(const std::string& resource) {
  const BootTime now = clock_.boot();
  milliseconds left{};
  {
    const Lock lock(mutex_);
    const auto found = closed_until_.find(resource);
    if (found == closed_until_.end()) return {};
    if (found->second <= now) {
      closed_until_.erase(found);
      return {};
    }
    left = std::chrono::ceil<milliseconds>(found->second - now);
  }
  // Calls that waited together do not start together.
  return left + milliseconds{random_.below(static_cast<std::uint64_t>(left.count() / 4 + 1))};
}

}  // namespace paddle::kube
