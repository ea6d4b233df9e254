// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/manifests.h"

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "engine/juicefs/credentials.h"
#include "engine/juicefs/mount_options.h"
#include "engine/juicefs/runtime_pod.h"
#include "engine/juicefs/source_check.h"
#include "engine/juicefs/tiers.h"
#include "engine/names.h"

namespace paddle::engine::juicefs {
namespace {

using api::Json;

Json object(const char* version, const char* kind, Json metadata) {
  return {{"apiVersion", version}, {"kind", kind}, {"metadata", std::move(metadata)}};
}

Json named(const api::SampleSet& set, const std::string& name) {
  return metadata(set, kEngine, set.meta.key.ns, name);
}

// Attributes without `juicefs/` are older names of the driver's. The delete delay keeps client and
// cache while a runtime restarts. At the end the driver removes the cached blocks of this volume
// with a job of its own.
Json attributes(const Tiers& tiers, const std::string& mount_options) {
  Json all = {{"mountOptions", mount_options},
              {"juicefs/mount-cpu-request", "50m"},
              {"juicefs/mount-memory-request", "128Mi"},
              {"juicefs/mount-delete-delay", "5m"},
              {"juicefs/clean-cache", "true"}};
  if (!tiers.memory_limit.empty()) all["juicefs/mount-memory-limit"] = tiers.memory_limit;
  return all;
}

// The driver writes the handle into a label of its mount pods.
Json driver_of(const api::SampleSet& set, const Json& volume_attributes,
               const RuntimeOptions& options) {
  return {{"driver", kDriver},
          {"fsType", kEngine},
          {"volumeHandle", short_handle_of(set)},
          {"volumeAttributes", volume_attributes},
          {"nodePublishSecretRef",
           {{"name", driver_secret_name(set)}, {"namespace", options.volume_secrets_namespace}}}};
}

Json with_data(Json secret, const std::map<std::string, std::string>& data) {
  secret["type"] = "Opaque";
  for (const auto& [key, value] : data) secret["data"][key] = base64_encode(value);
  return secret;
}

// What our pods mount, in the namespace of the set. Volumes of older operators refer to it.
Json credentials_copy(const api::SampleSet& set, const std::map<std::string, std::string>& data) {
  return with_data(object("v1", "Secret", named(set, volume_secret_name(set))), data);
}

// What the driver gets, where users of the set's namespace cannot change it. A set of another
// namespace cannot own it.
Json driver_credentials(const api::SampleSet& set, const std::map<std::string, std::string>& data,
                        const RuntimeOptions& options) {
  Json about = metadata(set, kEngine, {}, driver_secret_name(set));
  about["namespace"] = options.volume_secrets_namespace;
  return with_data(object("v1", "Secret", std::move(about)), keys_of_driver(data));
}

Json preparation(const api::SampleSet& set, const RuntimeOptions& options, bool again) {
  Json made = object("v1", "Pod", named(set, preparation_name(set)));
  made["spec"] = preparation_pod_spec(set, options, again);
  return made;
}

}  // namespace

Result<std::int64_t> JuicefsManifestBuilder::cache_mib(const api::SampleSet& set,
                                                       const RuntimeOptions& options) const {
  TRY(const Tiers tiers, tiers_of(set, options.cache_roots));
  return tiers.mib;
}

Result<Manifests> JuicefsManifestBuilder::manifests(const api::SampleSet& set,
                                                    const Credentials& credentials,
                                                    const RuntimeOptions& options) const {
  if (set.spec.source && !set.spec.source->uri.empty()) {
    CHECK_DONE(check_source(set.spec.source->uri));
  } else if (!set.spec.no_sync) {
    return Error{Code::kInvalid,
                 "spec.source.uri is missing; set it, or set spec.noSync when "
                 "the volume has the samples already"};
  }
  TRY(const Tiers tiers, tiers_of(set, options.cache_roots));
  TRY(const std::string mount_text, mount_options(set, tiers));
  TRY(const auto secret, volume_secret(credentials));
  const Json driver = driver_of(set, attributes(tiers, mount_text), options);
  return Manifests{.volume = volume_by(set, kEngine, driver),
                   .claim = claim_of(set, kEngine),
                   .service = runtime_service(set, kEngine),
                   .runtimes = runtimes_like(set, kEngine, runtime_pod_spec(set, tiers, options)),
                   .credentials = credentials_copy(set, secret),
                   .driver_credentials = driver_credentials(set, secret, options),
                   .preparation = preparation(set, options, false),
                   .preparation_again = preparation(set, options, true),
                   .policy = runtime_policy(set, kEngine, options),
                   .csi_driver = kDriver,
                   .without_driver = "kubectl apply -f deploy/csi/juicefs.yaml"};
}

}  // namespace paddle::engine::juicefs
