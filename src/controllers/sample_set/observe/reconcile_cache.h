// SPDX-License-Identifier: Apache-2.0
//
// What the controller keeps between passes and can lose: the contents of Secrets that living sets
// use, and which sets wait for an answer of a runtime. Holds credentials: never printed.
// Thread-safe.

#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
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
  // The set uses these Secrets and no others; those that no set uses are forgotten.
  void keep_secrets(const api::ObjectKey& set, std::set<api::ObjectKey> used) EXCLUDES(mutex_);

  // How long the set has waited for an answer; the first call starts the time.
  std::chrono::nanoseconds waits(const api::ObjectKey& set, BootTime now) EXCLUDES(mutex_);
  void waits_no_longer(const api::ObjectKey& set) EXCLUDES(mutex_);

  // Why pods of the runtimes could not be created, as it was read last; absent: it has to be read
  // (again).
  std::optional<std::string> creation_error(const api::ObjectKey& set, BootTime now) const
      EXCLUDES(mutex_);
  void put_creation_error(const api::ObjectKey& set, std::string error, BootTime now)
      EXCLUDES(mutex_);
  void forget_creation_error(const api::ObjectKey& set) EXCLUDES(mutex_);

  void forget(const api::ObjectKey& set) EXCLUDES(mutex_);
  std::size_t secrets() const EXCLUDES(mutex_);  // how many are kept

 private:
  mutable Mutex mutex_;
  std::map<api::ObjectKey, SecretContents> secrets_ GUARDED_BY(mutex_);
  std::map<api::ObjectKey, std::set<api::ObjectKey>> used_ GUARDED_BY(mutex_);  // by set
  std::map<api::ObjectKey, int> users_ GUARDED_BY(mutex_);                      // by Secret
  std::map<api::ObjectKey, BootTime> waiting_ GUARDED_BY(mutex_);
  struct CreationError {
    std::string error{};
    BootTime read{};
  };
  std::map<api::ObjectKey, CreationError> creation_errors_ GUARDED_BY(mutex_);
};

}  // namespace paddle::controllers::sample_set
