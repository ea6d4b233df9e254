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

// The decoded data and metadata of a Secret, and the "<uid>/<resourceVersion>" it was read in.
struct SecretContents {
  std::string version{};
  api::Meta meta{};  // only our annotations: kubectl writes the contents into one of its own
  std::map<std::string, std::string> values{};
};

class ReconcileCache {
 public:
  // What was read last, without contents when there was no such Secret. Absent: it was not read, or
  // longer ago than the age for what was found.
  struct KnownSecret {
    std::optional<SecretContents> contents{};
    BootTime read{};
  };
  std::optional<KnownSecret> secret(const api::ObjectKey& key, BootTime now,
                                    std::chrono::nanoseconds missing_age,
                                    std::chrono::nanoseconds age) const EXCLUDES(mutex_);
  // As it was read last, whenever that was.
  std::optional<SecretContents> latest(const api::ObjectKey& key) const EXCLUDES(mutex_);
  void put_secret(const api::ObjectKey& key, std::optional<SecretContents> contents, BootTime now)
      EXCLUDES(mutex_);
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
  std::map<api::ObjectKey, KnownSecret> secrets_ GUARDED_BY(mutex_);
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
