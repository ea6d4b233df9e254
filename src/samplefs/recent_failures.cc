// SPDX-License-Identifier: Apache-2.0
#include "samplefs/recent_failures.h"

namespace paddle::samplefs {

void RecentFailures::add(const BlockKey& key, const Error& error) {
  if (!error.retryable() || error.code == Code::kConflict) return;
  const BootTime now = clock_.boot();
  Lock lock(mutex_);
  std::erase_if(failures_, [&](const auto& each) { return each.second.until <= now; });
  failures_[key] = {.error = error, .until = now + kKept};
}

std::optional<Error> RecentFailures::find(const BlockKey& key) const {
  Lock lock(mutex_);
  const auto found = failures_.find(key);
  if (found == failures_.end() || found->second.until <= clock_.boot()) return {};
  return found->second.error;
}

}  // namespace paddle::samplefs
