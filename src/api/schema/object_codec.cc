// SPDX-License-Identifier: Apache-2.0
#include "api/schema/object_codec.h"

namespace paddle::api::codec {

Json merge_meta(const Json* kept, const Meta& meta) {
  Json out = kept ? *kept : Json::object();
  const auto before = decode_meta(Json{{"metadata", out}});
  if (before && *before == meta) return out;

  const Json wanted = encode_meta(meta);
  const Json was = before ? encode_meta(*before) : Json::object();
  for (const char* key :
       {"name", "namespace", "labels", "annotations", "finalizers", "ownerReferences"}) {
    const auto now = wanted.find(key), then = was.find(key);
    const bool present = now != wanted.end();
    if (present && then != was.end() && *now == *then) continue;
    if (present && !(*now == "")) {
      out[key] = *now;
    } else {
      out.erase(key);
    }
  }
  return out;
}

}  // namespace paddle::api::codec
