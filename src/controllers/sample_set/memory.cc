// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/memory.h"

namespace paddle::controllers::sample_sets {

std::optional<SecretText> Memory::secret(const api::ObjectKey& key,
                                         const std::string& version) const {
  Lock lock(mutex_);
  const auto found = secrets_.find(key);
  if (found == secrets_.end() || found->second.version != version) return std::nullopt;
  return found->second;
}

std::optional<SecretText> Memory::latest(const api::ObjectKey& key, const std::string& uid) const {
  Lock lock(mutex_);
  const auto found = secrets_.find(key);
  if (found == secrets_.end() || !found->second.version.starts_with(uid + "/")) {
    return std::nullopt;
  }
  return found->second;
}

void Memory::remember(const api::ObjectKey& key, SecretText text) {
  Lock lock(mutex_);
  secrets_[key] = std::move(text);
}

void Memory::forget_secret(const api::ObjectKey& key) {
  Lock lock(mutex_);
  secrets_.erase(key);
}

void Memory::heard(const api::ObjectKey& set, const std::string& pod_uid, BootTime now) {
  Lock lock(mutex_);
  heard_[set][pod_uid] = now;
}

std::chrono::seconds Memory::silent_for(const api::ObjectKey& set, const std::string& pod_uid,
                                        BootTime now) {
  Lock lock(mutex_);
  const auto since = heard_[set].try_emplace(pod_uid, now).first->second;
  return std::chrono::floor<std::chrono::seconds>(now - since);
}

void Memory::forget_runtimes(const api::ObjectKey& set) {
  Lock lock(mutex_);
  heard_.erase(set);
}

}  // namespace paddle::controllers::sample_sets
