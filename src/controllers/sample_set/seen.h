// SPDX-License-Identifier: Apache-2.0
//
// How the objects around a SampleSet are read: only what its world holds. Pure.

#pragma once

#include <set>

#include "api/json/json.h"
#include "controllers/sample_set/memory.h"
#include "controllers/sample_set/runtimes.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_sets {

struct MetaSeen {
  api::Meta meta{};
  bool operator==(const MetaSeen&) const = default;
};

// What a node can mount.
struct CsiNodeSeen {
  api::Meta meta{};
  std::set<std::string> drivers{};
  bool operator==(const CsiNodeSeen&) const = default;
};

Result<MetaSeen> decode_any(const api::Json& object);
// Of the annotations only ours: kubectl writes what a Secret holds into one of its own.
Result<MetaSeen> decode_secret_meta(const api::Json& object);
Result<VolumeSeen> decode_volume(const api::Json& object);  // a PersistentVolume or a claim
Result<StatefulSetSeen> decode_stateful_set(const api::Json& object);
Result<NodeSeen> decode_host(const api::Json& object);
Result<CsiNodeSeen> decode_csi_node(const api::Json& object);

// A value that is no base64 is left out.
Result<SecretText> decode_secret(const api::Json& object);
std::string version_of(const api::Meta& meta);  // "<uid>/<resourceVersion>"

}  // namespace paddle::controllers::sample_sets
