// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/objects/owned_objects.h"

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "base/stable_hash.h"
#include "engine/names.h"

namespace paddle::controllers::sample_set {

using api::Json;

std::string kind_name(OwnedKind kind) {
  switch (kind) {
    case OwnedKind::kToken:
    case OwnedKind::kCredentials:
    case OwnedKind::kDriverCredentials:
      return "Secret";
    case OwnedKind::kVolume:
      return "PV";
    case OwnedKind::kClaim:
      return "PVC";
    case OwnedKind::kService:
      return "Service";
    case OwnedKind::kPolicy:
      return "NetworkPolicy";
    case OwnedKind::kPreparation:
      return "Pod";
    case OwnedKind::kRuntimes:
      return "StatefulSet";
  }
  return "";
}

Json token_secret(const api::SampleSet& set, const std::string& engine) {
  return {{"apiVersion", "v1"},
          {"kind", "Secret"},
          {"type", "Opaque"},
          {"metadata", engine::metadata(set, engine, set.meta.key.ns, engine::runtime_name(set))}};
}

Json credentials_copy(const Json& manifest, const std::string& version) {
  Json object = manifest;
  object["data"] = secret_data(manifest);
  object.erase("stringData");
  object["metadata"]["annotations"][kCopiedFrom] = version;
  return object;
}

api::OwnerReference volume_owner(const api::Meta& volume) {
  return {
      .api_version = "v1", .kind = "PersistentVolume", .name = volume.key.name, .uid = volume.uid};
}

Json driver_credentials(const Json& manifest, const std::string& version, const api::Meta& volume) {
  Json object = credentials_copy(manifest, version);
  object["metadata"]["ownerReferences"] =
      api::encode_meta({.owners = {volume_owner(volume)}})["ownerReferences"];
  return object;
}

bool has_data(const engine::Credentials& values, const Json& data) {
  if (values.size() != data.size()) return false;
  for (const auto& [key, value] : values) {
    if (data.value(key, "") != base64_encode(value)) return false;
  }
  return true;
}

Json secret_data(const Json& secret) {
  Json data = secret.contains("data") ? secret["data"] : Json::object();
  if (!secret.contains("stringData")) return data;
  for (const auto& [key, value] : secret["stringData"].items()) {
    data[key] = base64_encode(value.get<std::string>());
  }
  return data;
}

api::Opaque volume_for_claim(const api::Opaque& manifest, const api::Meta& claim) {
  if (!manifest) return manifest;
  Json volume = *manifest;
  volume["spec"]["claimRef"]["uid"] = claim.uid;
  return api::Opaque(std::move(volume));
}

Json policy_with_hash(const Json& manifest) {
  Json policy = manifest;
  policy["metadata"]["annotations"][kSpecHash] = stable_hash_hex(manifest["spec"].dump());
  return policy;
}

Json runtimes_with_hash(const Json& manifest) {
  Json runtimes = manifest;
  const std::string hash = template_hash(manifest);
  runtimes["spec"]["template"]["metadata"]["annotations"][kTemplateHash] = hash;
  runtimes["metadata"]["annotations"][kTemplateHash] = hash;
  runtimes["spec"]["updateStrategy"] = {{"type", "OnDelete"}};
  return runtimes;
}

std::string template_hash(const Json& stateful_set) {
  return stable_hash_hex(stateful_set["spec"]["template"].dump());
}

Json put_value(const std::string& path, const Json& value) {
  return {{"op", "add"}, {"path", path}, {"value", value}};
}

Json put_annotation(const api::Meta& meta, const std::string& name, const std::string& value) {
  if (meta.annotations.empty()) return put_value("/metadata/annotations", {{name, value}});
  std::string escaped = name;
  escaped.replace(escaped.find('/'), 1, "~1");
  return put_value("/metadata/annotations/" + escaped, value);
}

}  // namespace paddle::controllers::sample_set
