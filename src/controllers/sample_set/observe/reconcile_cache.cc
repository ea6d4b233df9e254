// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/observe/reconcile_cache.h"

namespace paddle::controllers::sample_set {

std::optional<SecretContents> ReconcileCache::secret(const api::ObjectKey& key,
                                                     const std::string& version) const {
  Lock lock(mutex_);
  const auto found = secrets_.find(key);
  if (found == secrets_.end() || found->second.version != version) return std::nullopt;
  return found->second;
}

std::optional<SecretContents> ReconcileCache::latest(const api::ObjectKey& key,
                                                     const std::string& uid) const {
  Lock lock(mutex_);
  const auto found = secrets_.find(key);
  if (found == secrets_.end() || !found->second.version.starts_with(uid + "/")) {
    return std::nullopt;
  }
  return found->second;
}

void ReconcileCache::put_secret(const api::ObjectKey& key, SecretContents contents) {
  Lock lock(mutex_);
  secrets_[key] = std::move(contents);
}

void ReconcileCache::forget_secret(const api::ObjectKey& key) {
  Lock lock(mutex_);
  secrets_.erase(key);
}

void ReconcileCache::mark_reachable(const api::ObjectKey& set, const std::string& pod_uid,
                                    BootTime now) {
  Lock lock(mutex_);
  last_reachable_[set][pod_uid] = now;
}

std::chrono::seconds ReconcileCache::unreachable_for(const api::ObjectKey& set,
                                                     const std::string& pod_uid, BootTime now) {
  Lock lock(mutex_);
  const auto since = last_reachable_[set].try_emplace(pod_uid, now).first->second;
  return std::chrono::floor<std::chrono::seconds>(now - since);
}

void ReconcileCache::forget_runtimes(const api::ObjectKey& set) {
  Lock lock(mutex_);
  last_reachable_.erase(set);
}

}  // namespace paddle::controllers::sample_set
