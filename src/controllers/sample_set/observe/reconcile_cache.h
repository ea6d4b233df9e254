// SPDX-License-Identifier: Apache-2.0
//
// What the controller keeps between passes and can lose: the contents of Secrets, and when runtimes
// answered last. Holds credentials: never printed. Thread-safe.

#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "api/core/meta.h"
#include "base/clock.h"
#include "base/sync.h"

namespace paddle::controllers::sample_set {

// The decoded data of a Secret, and the "<uid>/<resourceVersion>" that it was read in.
struct SecretContents {
  std::string version{};
  std::map<std::string, std::string> values{};
};

class ReconcileCache {
 public:
  // Absent when another version was read, or none.
  std::optional<SecretContents> secret(const api::ObjectKey& key, const std::string& version) const
      EXCLUDES(mutex_);
  // Any version of the Secret with this uid.
  std::optional<SecretContents> latest(const api::ObjectKey& key, const std::string& uid) const
      EXCLUDES(mutex_);
  void put_secret(const api::ObjectKey& key, SecretContents contents) EXCLUDES(mutex_);
  void forget_secret(const api::ObjectKey& key) EXCLUDES(mutex_);

  void mark_reachable(const api::ObjectKey& set, const std::string& pod_uid, BootTime now)
      EXCLUDES(mutex_);
  // Since the runtime's last answer; the first call for a runtime starts the time.
  std::chrono::seconds unreachable_for(const api::ObjectKey& set, const std::string& pod_uid,
                                       BootTime now) EXCLUDES(mutex_);
  void forget_runtimes(const api::ObjectKey& set) EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::map<api::ObjectKey, SecretContents> secrets_ GUARDED_BY(mutex_);
  std::map<api::ObjectKey, std::map<std::string, BootTime>> last_reachable_ GUARDED_BY(mutex_);
};

}  // namespace paddle::controllers::sample_set
