// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/observe/reconcile_cache.h"

#include "controllers/sample_set/config.h"

namespace paddle::controllers::sample_set {

std::optional<ReconcileCache::KnownSecret> ReconcileCache::secret(
    const api::ObjectKey& key, BootTime now, std::chrono::nanoseconds missing_age,
    std::chrono::nanoseconds age) const {
  Lock lock(mutex_);
  const auto found = secrets_.find(key);
  if (found == secrets_.end()) return std::nullopt;
  const auto limit = found->second.contents ? age : missing_age;
  if (now - found->second.read >= limit) return std::nullopt;
  return found->second;
}

std::optional<SecretContents> ReconcileCache::latest(const api::ObjectKey& key) const {
  Lock lock(mutex_);
  const auto found = secrets_.find(key);
  if (found == secrets_.end()) return std::nullopt;
  return found->second.contents;
}

void ReconcileCache::put_secret(const api::ObjectKey& key, std::optional<SecretContents> contents,
                                BootTime now) {
  Lock lock(mutex_);
  secrets_[key] = {std::move(contents), now};
}

void ReconcileCache::forget_secret(const api::ObjectKey& key) {
  Lock lock(mutex_);
  secrets_.erase(key);
}

void ReconcileCache::keep_secrets(const api::ObjectKey& set, std::set<api::ObjectKey> used) {
  Lock lock(mutex_);
  for (const api::ObjectKey& key : used) ++users_[key];
  const auto before = used_.find(set);
  if (before != used_.end()) {
    for (const api::ObjectKey& key : before->second) {
      if (--users_[key] > 0) continue;
      users_.erase(key);
      secrets_.erase(key);
    }
  }
  if (used.empty()) {
    used_.erase(set);
  } else {
    used_[set] = std::move(used);
  }
}

std::chrono::nanoseconds ReconcileCache::waits(const api::ObjectKey& set, BootTime now) {
  Lock lock(mutex_);
  return now - waiting_.try_emplace(set, now).first->second;
}

void ReconcileCache::waits_no_longer(const api::ObjectKey& set) {
  Lock lock(mutex_);
  waiting_.erase(set);
}

std::optional<std::string> ReconcileCache::creation_error(const api::ObjectKey& set,
                                                          BootTime now) const {
  Lock lock(mutex_);
  const auto found = creation_errors_.find(set);
  if (found == creation_errors_.end() || now - found->second.read >= kCreationCheck) {
    return std::nullopt;
  }
  return found->second.error;
}

void ReconcileCache::put_creation_error(const api::ObjectKey& set, std::string error,
                                        BootTime now) {
  Lock lock(mutex_);
  creation_errors_[set] = {std::move(error), now};
}

void ReconcileCache::forget_creation_error(const api::ObjectKey& set) {
  Lock lock(mutex_);
  creation_errors_.erase(set);
}

void ReconcileCache::forget(const api::ObjectKey& set) {
  forget_creation_error(set);
  keep_secrets(set, {});
  waits_no_longer(set);
}

std::size_t ReconcileCache::secrets() const {
  Lock lock(mutex_);
  return secrets_.size();
}

}  // namespace paddle::controllers::sample_set
