// SPDX-License-Identifier: Apache-2.0
//
// Decoding and encoding of a whole resource: the metadata and the described fields. Internal to
// api/. Metadata that we do not model (managedFields, ...) is kept and written back.

#pragma once

#include "api/core/meta.h"
#include "api/schema/codec.h"

namespace paddle::api::codec {

// The metadata of `kept` with what differs in `meta` written over it.
Json merge_meta(const Json* kept, const Meta& meta);

template <typename Object>
Result<Object> read_object(const Json& json) {
  Object object;
  CHECK_DONE(read(json, object, Path{}));
  // An object without any key was decoded, too: encoding adds nothing to it.
  if (!object.rest) object.rest = Opaque(Json::object());
  if (json.contains("metadata")) {
    TRY(object.meta, decode_meta(json));
  }
  return object;
}

template <typename Object>
Json write_object(const Object& object) {
  Json out = write(object);  // rest holds apiVersion, kind and the metadata as they came
  if (!object.rest) {
    out["apiVersion"] = Object::kApiVersion;
    out["kind"] = Object::kKind;
  }
  const auto kept = out.find("metadata");
  const bool was_there = kept != out.end();
  Json meta = merge_meta(was_there ? &*kept : nullptr, object.meta);
  if (was_there || !meta.empty()) out["metadata"] = std::move(meta);
  return out;
}

}  // namespace paddle::api::codec
