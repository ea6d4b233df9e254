// SPDX-License-Identifier: Apache-2.0
//
// What the controller of SampleSets keeps in mind between passes, and can do without: what Secrets
// held when they were read, and when runtimes were heard of last. Thread-safe.

#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "api/core/meta.h"
#include "base/clock.h"
#include "base/sync.h"
#include "engine/manifests.h"

namespace paddle::controllers::sample_set {

// Everything a Secret holds, decoded, and the "<uid>/<resourceVersion>" it had then.
struct SecretContents {
  std::string version{};
  std::map<std::string, std::string> values{};
};

class ReconcileCache {
 public:
  // Nothing when it was another version, or never read.
  std::optional<SecretContents> secret(const api::ObjectKey& key, const std::string& version) const
      EXCLUDES(mutex_);
  // Whatever its version, if it is of this object.
  std::optional<SecretContents> latest(const api::ObjectKey& key, const std::string& uid) const
      EXCLUDES(mutex_);
  void put_secret(const api::ObjectKey& key, SecretContents text) EXCLUDES(mutex_);
  void forget_secret(const api::ObjectKey& key) EXCLUDES(mutex_);

  // How long a runtime has not been heard of; the clock starts with the first question.
  void mark_reachable(const api::ObjectKey& set, const std::string& pod_uid, BootTime now)
      EXCLUDES(mutex_);
  std::chrono::seconds unreachable_for(const api::ObjectKey& set, const std::string& pod_uid,
                                       BootTime now) EXCLUDES(mutex_);
  void forget_runtimes(const api::ObjectKey& set) EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::map<api::ObjectKey, SecretContents> secrets_ GUARDED_BY(mutex_);
  std::map<api::ObjectKey, std::map<std::string, BootTime>> last_reachable_ GUARDED_BY(mutex_);
};

}  // namespace paddle::controllers::sample_set
