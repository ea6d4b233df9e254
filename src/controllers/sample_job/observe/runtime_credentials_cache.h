// SPDX-License-Identifier: Apache-2.0
//
// By what the runtimes of each set are spoken to: read from the Secret <set>-runtime and kept, for
// this manager may read a Secret but not watch it. The Secret is renewed with another token and
// another authority, so what is kept is forgotten as soon as a runtime says that it is old, by
// refusing the token or by a certificate that is not trusted; the next call reads it again. That
// holds for the other order too: while a runtime has not heard of a new Secret yet, it is read
// again and again until both agree. What is incomplete is not kept. Thread-safe.

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "api/sample_set.h"
#include "base/sync.h"
#include "kube/cluster.h"
#include "runtime/runtime_client.h"

namespace paddle::controllers::sample_job {

class RuntimeCredentialsCache {
 public:
  RuntimeCredentialsCache(kube::Cluster& cluster, runtime::RuntimeClientFactory runtime_at)
      : cluster_(cluster), runtime_at_(std::move(runtime_at)) {}

  // `tls`: the set's engine serves it. Nothing: the set has no Secret for runtimes yet.
  Result<std::optional<runtime::RuntimeCredentials>> of(const api::SampleSet& set, bool tls,
                                                        const kube::Call& call) EXCLUDES(mutex_);

  // A runtime of the set. When it refuses `access`, that is forgotten. Outlives nothing of this.
  std::unique_ptr<runtime::RuntimeClient> runtime(const api::ObjectKey& set,
                                                  const std::string& address,
                                                  const runtime::RuntimeCredentials& access);

 private:
  friend class CredentialCheckingClient;
  void forget(const api::ObjectKey& set, const runtime::RuntimeCredentials& access)
      EXCLUDES(mutex_);

  struct Kept {
    std::string uid{};  // of the set
    runtime::RuntimeCredentials access{};
  };
  kube::Cluster& cluster_;
  const runtime::RuntimeClientFactory runtime_at_;
  Mutex mutex_;
  std::map<api::ObjectKey, Kept> kept_ GUARDED_BY(mutex_);
};

}  // namespace paddle::controllers::sample_job
