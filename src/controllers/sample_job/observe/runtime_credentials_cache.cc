// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/observe/runtime_credentials_cache.h"

#include <nlohmann/json.hpp>

#include "api/core/meta.h"
#include "engine/names.h"
#include "kube/resource.h"
#include "runtime/runtime_secret.h"

namespace paddle::controllers::sample_job {

Result<std::optional<runtime::RuntimeCredentials>> RuntimeCredentialsCache::get(
    const api::SampleSet& set, bool tls, const kube::Call& call) {
  const api::ObjectKey& key = set.meta.key;
  {
    Lock lock(mutex_);
    const auto entry = entries_.find(key);
    if (entry != entries_.end() && entry->second.uid == set.meta.uid) {
      return std::optional(entry->second.credentials);
    }
  }
  auto secret = cluster_.get(kube::resources::kSecrets, {key.ns, engine::runtime_name(set)}, call);
  if (secret.is(Code::kNotFound)) return std::optional<runtime::RuntimeCredentials>{};
  if (!secret) return std::move(secret).error().in("read the runtimes' secret");
  TRY(const api::Meta meta, api::decode_meta(*secret));
  if (!engine::belongs_to(meta, set)) return std::optional<runtime::RuntimeCredentials>{};
  runtime::RuntimeCredentials credentials =
      runtime::credentials_from(runtime::secret_values(*secret), key.ns, key.name, tls);
  if (runtime::is_complete(credentials)) {
    Lock lock(mutex_);
    entries_[key] = {set.meta.uid, credentials};
  }
  return std::optional(std::move(credentials));
}

void RuntimeCredentialsCache::call_failed(const api::ObjectKey& set,
                                          const runtime::RuntimeCredentials& credentials,
                                          const Error& error) {
  if (!runtime::refuses_access(error)) return;
  Lock lock(mutex_);
  const auto entry = entries_.find(set);
  if (entry != entries_.end() && entry->second.credentials == credentials) entries_.erase(entry);
}

void RuntimeCredentialsCache::forget(const api::ObjectKey& set) {
  Lock lock(mutex_);
  entries_.erase(set);
}

}  // namespace paddle::controllers::sample_job
