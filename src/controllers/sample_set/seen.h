// SPDX-License-Identifier: Apache-2.0
//
// How the objects around a SampleSet are read: only what its world holds. Pure.

#pragma once

#include "api/json.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_sets {

struct MetaSeen {
  api::Meta meta{};
  bool operator==(const MetaSeen&) const = default;
};

Result<MetaSeen> decode_any(const api::Json& object);
Result<VolumeSeen> decode_volume(const api::Json& object);  // a PersistentVolume or a claim
Result<StatefulSetSeen> decode_stateful_set(const api::Json& object);
SecretSeen decode_secret(const api::Json& object);
// The token in a Secret's data; empty when it has none.
std::string token_in(const api::Json& secret);

}  // namespace paddle::controllers::sample_sets
