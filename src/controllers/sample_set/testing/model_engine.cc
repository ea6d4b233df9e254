// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/testing/model_engine.h"

#include <memory>

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "base/sync.h"
#include "engine/names.h"
#include "engine/samplefs/manifests.h"
#include "engine/samplefs/volumes.h"

namespace paddle::controllers::sample_set {
namespace {

using api::Json;

Json object_of(const api::SampleSet& set, const char* kind, const std::string& name,
               const char* version = "v1") {
  return {{"apiVersion", version},
          {"kind", kind},
          {"metadata", engine::metadata(set, "juicefs", set.meta.key.ns, name)}};
}

// Most passes are for the same set as the previous one: its manifests are built once.
class CachedManifests final : public engine::ManifestBuilder {
 public:
  explicit CachedManifests(std::shared_ptr<const engine::ManifestBuilder> builder)
      : builder_(std::move(builder)) {}
  std::string name() const override { return builder_->name(); }
  bool shares_volume() const override { return builder_->shares_volume(); }
  bool serves_tls() const override { return builder_->serves_tls(); }
  Result<std::int64_t> cache_mib(const api::SampleSet& set,
                                 const engine::RuntimeOptions& options) const override {
    return builder_->cache_mib(set, options);
  }
  Result<engine::Manifests> manifests(const api::SampleSet& set,
                                      const engine::Credentials& credentials,
                                      const engine::RuntimeOptions& options) const override {
    Lock lock(mutex_);
    if (set.meta != set_.meta || set.spec != set_.spec || credentials != credentials_) {
      known_ = builder_->manifests(set, credentials, options);
      set_ = {.meta = set.meta, .spec = set.spec};
      credentials_ = credentials;
    }
    return known_;
  }

 private:
  const std::shared_ptr<const engine::ManifestBuilder> builder_;
  mutable Mutex mutex_;
  mutable api::SampleSet set_ GUARDED_BY(mutex_){};
  mutable engine::Credentials credentials_ GUARDED_BY(mutex_){};
  mutable Result<engine::Manifests> known_ GUARDED_BY(mutex_) = engine::Manifests{};
};

}  // namespace

Result<std::int64_t> SharedVolumeEngine::cache_mib(const api::SampleSet& set,
                                                   const engine::RuntimeOptions&) const {
  if (!set.spec.cache || set.spec.cache->levels.empty()) return 1024;
  return set.spec.cache->levels[0].size_mib.value_or(1024);
}

Result<engine::Manifests> SharedVolumeEngine::manifests(
    const api::SampleSet& set, const engine::Credentials& credentials,
    const engine::RuntimeOptions& options) const {
  if (!credentials.contains("metaurl")) return Error{Code::kInvalid, "no metaurl"};
  Json volume = {{"apiVersion", "v1"},
                 {"kind", "PersistentVolume"},
                 {"metadata", engine::metadata(set, name(), {}, engine::handle_of(set))}};
  volume["spec"]["claimRef"] = {{"namespace", set.meta.key.ns}, {"name", set.meta.key.name}};
  Json runtimes = object_of(set, "StatefulSet", engine::runtime_name(set), "apps/v1");
  Json pod = Json::object();
  if (set.spec.source) pod["source"] = set.spec.source->uri;
  if (set.spec.tolerations) pod["tolerations"] = *set.spec.tolerations;
  runtimes["spec"] = {
      {"replicas", set.spec.effective_partitions()},
      {"template",
       {{"metadata", {{"labels", {{engine::kSetLabel, set.meta.key.name}}}}}, {"spec", pod}}}};
  Json copy = object_of(set, "Secret", engine::volume_secret_name(set));
  for (const auto& [key, value] : credentials) copy["data"][key] = base64_encode(value);
  Json for_driver = copy;
  for_driver["metadata"] = engine::metadata(set, name(), {}, engine::driver_secret_name(set));
  for_driver["metadata"]["namespace"] = options.volume_secrets_namespace;
  Json again = object_of(set, "Pod", engine::preparation_name(set));
  again["spec"]["again"] = true;
  return engine::Manifests{
      .volume = volume,
      .claim = object_of(set, "PersistentVolumeClaim", engine::claim_name(set)),
      .service = engine::runtime_service(set, name()),
      .runtimes = runtimes,
      .credentials = copy,
      .driver_credentials = for_driver,
      .preparation = object_of(set, "Pod", engine::preparation_name(set)),
      .preparation_again = again,
      .policy = engine::runtime_policy(set, name(), options),
      .csi_driver = kDriver,
      .without_driver = "kubectl apply -f deploy/csi/juicefs.yaml"};
}

Config model_config() {
  return {.engines = {std::make_shared<CachedManifests>(
                          std::make_shared<engine::samplefs::SamplefsManifestBuilder>()),
                      std::make_shared<CachedManifests>(std::make_shared<SharedVolumeEngine>())},
          .runtime = {.image = "paddle:1"},
          .built_in_drivers = {engine::samplefs::kDriver}};
}

api::SampleSet model_set(int partitions, bool shares_volume) {
  api::SampleSet set{.meta = {.key = {"train", "imagenet"}, .uid = "0123456789", .generation = 1}};
  set.spec.partitions = partitions;
  set.spec.source = api::SampleSource{.uri = "s3://bucket/images"};
  if (shares_volume) set.spec.secret = api::SecretReference{.name = "keys"};
  return set;
}

}  // namespace paddle::controllers::sample_set
