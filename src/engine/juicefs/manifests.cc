// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/manifests.h"

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "engine/juicefs/credentials.h"
#include "engine/juicefs/mount_options.h"
#include "engine/juicefs/runtime_pod.h"
#include "engine/juicefs/sources.h"
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

// Names without `juicefs/` are the driver's older ones. The delay keeps client and cache while a
// runtime restarts; in the end the driver removes the cache's blocks, and only those of this
// volume, with a job of its own.
Json attributes(const Tiers& tiers, const std::string& mount_options) {
  Json all = {{"mountOptions", mount_options},
              {"juicefs/mount-cpu-request", "50m"},
              {"juicefs/mount-memory-request", "128Mi"},
              {"juicefs/mount-delete-delay", "5m"},
              {"juicefs/clean-cache", "true"}};
  if (!tiers.memory_limit.empty()) all["juicefs/mount-memory-limit"] = tiers.memory_limit;
  return all;
}

Json volume(const api::SampleSet& set, const Json& volume_attributes) {
  Json made = object("v1", "PersistentVolume", metadata(set, kEngine, {}, handle_of(set)));
  made["spec"] = {{"accessModes", Json::array({"ReadWriteMany"})},
                  {"capacity", {{"storage", "10Pi"}}},
                  {"claimRef",
                   {{"apiVersion", "v1"},
                    {"kind", "PersistentVolumeClaim"},
                    {"namespace", set.meta.key.ns},
                    {"name", claim_name(set)}}},
                  {"csi",
                   {{"driver", kDriver},
                    {"fsType", kEngine},
                    {"volumeHandle", handle_of(set)},
                    {"volumeAttributes", volume_attributes},
                    {"nodePublishSecretRef",
                     {{"name", volume_secret_name(set)}, {"namespace", set.meta.key.ns}}}}},
                  {"persistentVolumeReclaimPolicy", "Retain"},
                  {"storageClassName", kStorageClass},
                  {"volumeMode", "Filesystem"}};
  return made;
}

Json claim(const api::SampleSet& set) {
  Json made = object("v1", "PersistentVolumeClaim", named(set, claim_name(set)));
  made["spec"] = {{"accessModes", Json::array({"ReadWriteMany"})},
                  {"resources", {{"requests", {{"storage", "10Pi"}}}}},
                  {"storageClassName", kStorageClass},
                  {"volumeMode", "Filesystem"},
                  {"volumeName", handle_of(set)}};
  return made;
}

Json runtimes(const api::SampleSet& set, const Tiers& tiers, const RuntimeOptions& options) {
  const auto labels = runtime_labels(set, kEngine);
  Json pod_labels = labels;
  pod_labels[kSetLabel] = set.meta.key.name;
  Json made = object("apps/v1", "StatefulSet", named(set, runtime_name(set)));
  made["spec"] = {{"replicas", set.spec.effective_partitions()},
                  {"serviceName", service_name(set)},
                  {"podManagementPolicy", "Parallel"},
                  {"selector", {{"matchLabels", labels}}},
                  {"template",
                   {{"metadata", {{"labels", std::move(pod_labels)}}},
                    {"spec", runtime_pod_spec(set, tiers, options)}}}};
  return made;
}

Json credentials_copy(const api::SampleSet& set, const std::map<std::string, std::string>& data) {
  Json made = object("v1", "Secret", named(set, volume_secret_name(set)));
  made["type"] = "Opaque";
  for (const auto& [key, value] : data) made["data"][key] = base64_encode(value);
  return made;
}

Json preparation(const api::SampleSet& set, const RuntimeOptions& options) {
  Json made = object("v1", "Pod", named(set, preparation_name(set)));
  made["spec"] = preparation_pod_spec(set, options);
  return made;
}

}  // namespace

Result<Manifests> JuicefsOperatorFace::manifests(const api::SampleSet& set,
                                                 const Credentials& credentials,
                                                 const RuntimeOptions& options) const {
  if (set.spec.source && !set.spec.source->uri.empty()) {
    CHECK_DONE(check_source(set.spec.source->uri));
  } else if (!set.spec.no_sync) {
    return Error{Code::kInvalid,
                 "spec.source.uri is missing; say where the samples are, or set spec.noSync when "
                 "the volume holds them already"};
  }
  TRY(const Tiers tiers, tiers_of(set, options.cache_roots));
  TRY(const std::string mount_text, mount_options(set, tiers));
  TRY(const auto secret, volume_secret(credentials));
  return Manifests{.volume = volume(set, attributes(tiers, mount_text)),
                   .claim = claim(set),
                   .service = runtime_service(set, kEngine),
                   .runtimes = runtimes(set, tiers, options),
                   .credentials = credentials_copy(set, secret),
                   .preparation = preparation(set, options),
                   .policy = runtime_policy(set, kEngine, options),
                   .csi_driver = kDriver};
}

}  // namespace paddle::engine::juicefs
