// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/seen.h"

#include <nlohmann/json.hpp>

#include "api/look.h"
#include "base/base64.h"
#include "engine/names.h"

namespace paddle::controllers::sample_sets {
using api::Json;

Result<MetaSeen> decode_any(const Json& object) {
  MetaSeen seen;
  TRY(seen.meta, api::decode_meta(object));
  return seen;
}

Result<VolumeSeen> decode_volume(const Json& object) {
  VolumeSeen seen;
  TRY(seen.meta, api::decode_meta(object));
  seen.bound = api::look_text(object, "/status/phase") == "Bound";
  seen.claim = {api::look_text(object, "/spec/claimRef/namespace"),
                api::look_text(object, "/spec/claimRef/name")};
  return seen;
}

Result<StatefulSetSeen> decode_stateful_set(const Json& object) {
  StatefulSetSeen seen;
  TRY(seen.meta, api::decode_meta(object));
  seen.replicas = static_cast<int>(api::look_integer(object, "/spec/replicas", 1));
  seen.ready = static_cast<int>(api::look_integer(object, "/status/readyReplicas"));
  return seen;
}

SecretSeen decode_secret(const Json& object) {
  const Json& data = api::look(object, "data");
  return {.exists = true,
          .has_metaurl = data.contains("metaurl"),
          .has_bucket = data.contains("storage") || data.contains("bucket")};
}

std::string token_in(const Json& secret) {
  auto plain = base64_decode(api::look_text(api::look(secret, "data"), engine::kTokenKey));
  return plain ? *plain : std::string();
}

}  // namespace paddle::controllers::sample_sets
