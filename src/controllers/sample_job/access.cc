// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/access.h"

#include <nlohmann/json.hpp>

#include "api/core/meta.h"
#include "engine/names.h"
#include "kube/resource.h"
#include "runtime/runtime_secret.h"

namespace paddle::controllers::sample_jobs {

// Tells of every answer that says that the access is old, whatever was asked.
class CredentialCheckingClient final : public runtime::RuntimeClient {
 public:
  CredentialCheckingClient(KeptAccess& all, api::ObjectKey set, runtime::RuntimeCredentials access,
                           std::unique_ptr<runtime::RuntimeClient> inner)
      : all_(all), set_(std::move(set)), access_(std::move(access)), inner_(std::move(inner)) {}

  Result<runtime::StatusReport> status(std::stop_token stop) override {
    return seen(inner_->status(stop));
  }
  Result<runtime::JobReport> job(const std::string& id, std::stop_token stop) override {
    return seen(inner_->job(id, stop));
  }
  Result<std::vector<runtime::JobReport>> jobs(std::stop_token stop) override {
    return seen(inner_->jobs(stop));
  }
  Result<runtime::JobReport> put_job(const std::string& id, const runtime::JobRequest& request,
                                     std::stop_token stop) override {
    return seen(inner_->put_job(id, request, stop));
  }
  Result<> cancel(const std::string& id, std::stop_token stop) override {
    return seen(inner_->cancel(id, stop));
  }

 private:
  template <typename T>
  Result<T> seen(Result<T> answer) {
    if (!answer && runtime::refuses_access(answer.error())) all_.forget(set_, access_);
    return answer;
  }

  KeptAccess& all_;
  const api::ObjectKey set_;
  const runtime::RuntimeCredentials access_;
  const std::unique_ptr<runtime::RuntimeClient> inner_;
};

Result<std::optional<runtime::RuntimeCredentials>> KeptAccess::of(const api::SampleSet& set,
                                                                  bool tls,
                                                                  const kube::Call& call) {
  const api::ObjectKey& key = set.meta.key;
  {
    Lock lock(mutex_);
    const auto kept = kept_.find(key);
    if (kept != kept_.end() && kept->second.uid == set.meta.uid) {
      return std::optional(kept->second.access);
    }
  }
  auto secret = cluster_.get(kube::resources::kSecrets, {key.ns, engine::runtime_name(set)}, call);
  if (secret.is(Code::kNotFound)) return std::optional<runtime::RuntimeCredentials>{};
  if (!secret) return std::move(secret).error().in("read the runtimes' secret");
  TRY(const api::Meta meta, api::decode_meta(*secret));
  if (!engine::belongs_to(meta, set)) return std::optional<runtime::RuntimeCredentials>{};
  runtime::RuntimeCredentials access =
      runtime::credentials_from(runtime::secret_values(*secret), key.ns, key.name, tls);
  if (runtime::is_complete(access)) {
    Lock lock(mutex_);
    kept_[key] = {set.meta.uid, access};
  }
  return std::optional(std::move(access));
}

std::unique_ptr<runtime::RuntimeClient> KeptAccess::runtime(
    const api::ObjectKey& set, const std::string& address,
    const runtime::RuntimeCredentials& access) {
  return std::make_unique<CredentialCheckingClient>(*this, set, access,
                                                    runtime_at_(address, access));
}

// Somebody else may have read a newer one meanwhile.
void KeptAccess::forget(const api::ObjectKey& set, const runtime::RuntimeCredentials& access) {
  Lock lock(mutex_);
  const auto kept = kept_.find(set);
  if (kept != kept_.end() && kept->second.access == access) kept_.erase(kept);
}

}  // namespace paddle::controllers::sample_jobs
