// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/seen.h"

#include <nlohmann/json.hpp>

#include "engine/names.h"
#include "kube/base64.h"

namespace paddle::controllers::sample_sets {
namespace {

using api::Json;

const Json& part(const Json& object, const char* name) {
  static const Json nothing = Json::object();
  const auto found = object.find(name);
  return found != object.end() && found->is_object() ? *found : nothing;
}

int number(const Json& object, const char* name, int otherwise) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number_integer() ? found->get<int>() : otherwise;
}

}  // namespace

Result<MetaSeen> decode_any(const Json& object) {
  MetaSeen seen;
  TRY(seen.meta, api::decode_meta(object));
  return seen;
}

Result<VolumeSeen> decode_volume(const Json& object) {
  VolumeSeen seen;
  TRY(seen.meta, api::decode_meta(object));
  const Json& status = part(object, "status");
  seen.bound = status.contains("phase") && status["phase"] == "Bound";
  return seen;
}

Result<StatefulSetSeen> decode_stateful_set(const Json& object) {
  StatefulSetSeen seen;
  TRY(seen.meta, api::decode_meta(object));
  seen.replicas = number(part(object, "spec"), "replicas", 1);
  seen.ready = number(part(object, "status"), "readyReplicas", 0);
  return seen;
}

SecretSeen decode_secret(const Json& object) {
  const Json& data = part(object, "data");
  return {.exists = true,
          .has_metaurl = data.contains("metaurl"),
          .has_bucket = data.contains("storage") || data.contains("bucket")};
}

std::string token_in(const Json& secret) {
  const Json& data = part(secret, "data");
  const auto found = data.find(engine::kTokenKey);
  if (found == data.end() || !found->is_string()) return {};
  auto plain = kube::base64_decode(found->get<std::string>());
  return plain ? *plain : std::string();
}

}  // namespace paddle::controllers::sample_sets
