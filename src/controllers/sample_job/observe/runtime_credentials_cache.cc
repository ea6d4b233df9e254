// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/observe/runtime_credentials_cache.h"

#include <nlohmann/json.hpp>

#include "api/core/meta.h"
#include "engine/names.h"
#include "kube/resource.h"
#include "runtime/runtime_secret.h"

namespace paddle::controllers::sample_job {

// Checks the result of every call for rejected credentials.
class CredentialCheckingClient final : public runtime::RuntimeClient {
 public:
  CredentialCheckingClient(RuntimeCredentialsCache& cache, api::ObjectKey set,
                           runtime::RuntimeCredentials credentials,
                           std::unique_ptr<runtime::RuntimeClient> inner)
      : cache_(cache),
        set_(std::move(set)),
        credentials_(std::move(credentials)),
        inner_(std::move(inner)) {}

  Result<runtime::StatusReport> status(std::stop_token stop) override {
    return checked(inner_->status(stop));
  }
  Result<runtime::JobReport> job(const std::string& id, std::stop_token stop) override {
    return checked(inner_->job(id, stop));
  }
  Result<std::vector<runtime::JobReport>> jobs(std::stop_token stop) override {
    return checked(inner_->jobs(stop));
  }
  Result<runtime::JobReport> put_job(const std::string& id, const runtime::JobRequest& request,
                                     std::stop_token stop) override {
    return checked(inner_->put_job(id, request, stop));
  }
  Result<> cancel(const std::string& id, std::stop_token stop) override {
    return checked(inner_->cancel(id, stop));
  }

 private:
  template <typename T>
  Result<T> checked(Result<T> result) {
    if (!result && runtime::refuses_access(result.error())) cache_.drop(set_, credentials_);
    return result;
  }

  RuntimeCredentialsCache& cache_;
  const api::ObjectKey set_;
  const runtime::RuntimeCredentials credentials_;
  const std::unique_ptr<runtime::RuntimeClient> inner_;
};

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

std::unique_ptr<runtime::RuntimeClient> RuntimeCredentialsCache::client(
    const api::ObjectKey& set, const std::string& address,
    const runtime::RuntimeCredentials& credentials) {
  return std::make_unique<CredentialCheckingClient>(*this, set, credentials,
                                                    runtime_at_(address, credentials));
}

void RuntimeCredentialsCache::drop(const api::ObjectKey& set,
                                   const runtime::RuntimeCredentials& credentials) {
  Lock lock(mutex_);
  const auto entry = entries_.find(set);
  if (entry != entries_.end() && entry->second.credentials == credentials) entries_.erase(entry);
}

void RuntimeCredentialsCache::forget(const api::ObjectKey& set) {
  Lock lock(mutex_);
  entries_.erase(set);
}

}  // namespace paddle::controllers::sample_job
