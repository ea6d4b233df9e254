// SPDX-License-Identifier: Apache-2.0
//
// How the objects around a SampleSet are read: only what its world holds. Pure.

#pragma once

#include <set>

#include "api/json/json.h"
#include "controllers/sample_set/observe/reconcile_cache.h"
#include "controllers/sample_set/observe/runtime_poller.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_set {

struct MetaSummary {
  api::Meta meta{};
  bool operator==(const MetaSummary&) const = default;
};

// What a node can mount.
struct CsiNodeSummary {
  api::Meta meta{};
  std::set<std::string> drivers{};
  bool operator==(const CsiNodeSummary&) const = default;
};

Result<MetaSummary> decode_meta_summary(const api::Json& object);
// Of the annotations only ours: kubectl writes what a Secret holds into one of its own.
Result<MetaSummary> decode_secret_meta(const api::Json& object);
Result<VolumeSummary> decode_volume(const api::Json& object);  // a PersistentVolume or a claim
Result<StatefulSetSummary> decode_stateful_set(const api::Json& object);
Result<NodeSummary> decode_node_summary(const api::Json& object);
Result<CsiNodeSummary> decode_csi_node(const api::Json& object);

// A value that is no base64 is left out.
Result<SecretContents> decode_secret(const api::Json& object);
std::string version_of(const api::Meta& meta);  // "<uid>/<resourceVersion>"

}  // namespace paddle::controllers::sample_set
