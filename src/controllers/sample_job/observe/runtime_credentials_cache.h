// SPDX-License-Identifier: Apache-2.0
//
// The credentials for the runtimes of each set, read from the Secret <set>-runtime and cached: this
// manager may read a Secret but not watch it.
//
// The Secret is renewed with another token and another certificate authority. So an entry is
// dropped as soon as a runtime rejects it, by refusing the token or by a certificate that is not
// trusted, and the next call reads the Secret again. The same works in the other order: while a
// runtime does not know a new Secret yet, the Secret is read again until both agree. Incomplete
// credentials are not cached. Thread-safe.

#pragma once

#include <map>
#include <optional>
#include <string>

#include "api/sample_set.h"
#include "base/sync.h"
#include "kube/cluster.h"
#include "runtime/client.h"

namespace paddle::controllers::sample_job {

class RuntimeCredentialsCache {
 public:
  // Borrows the cluster.
  explicit RuntimeCredentialsCache(kube::Cluster& cluster) : cluster_(cluster) {}

  // `tls`: the engine of the set serves it. Absent: the set has no Secret for its runtimes yet.
  Result<std::optional<runtime::RuntimeCredentials>> get(const api::SampleSet& set, bool tls,
                                                         const kube::Call& call) EXCLUDES(mutex_);

  // A call to a runtime with these has failed: drops them if the runtime rejects them. No effect
  // when newer ones have taken their place.
  void call_failed(const api::ObjectKey& set, const runtime::RuntimeCredentials& credentials,
                   const Error& error) EXCLUDES(mutex_);
  // The set is gone.
  void forget(const api::ObjectKey& set) EXCLUDES(mutex_);

 private:
  struct Entry {
    std::string uid{};  // of the set
    runtime::RuntimeCredentials credentials{};
  };
  kube::Cluster& cluster_;
  Mutex mutex_;
  std::map<api::ObjectKey, Entry> entries_ GUARDED_BY(mutex_);
};

}  // namespace paddle::controllers::sample_job
