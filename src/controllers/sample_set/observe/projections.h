// SPDX-License-Identifier: Apache-2.0
//
// Decoders of the objects around a SampleSet for informers: each keeps only what a World holds.

#pragma once

#include <optional>
#include <set>
#include <string>

#include "api/json/json.h"
#include "base/result.h"
#include "controllers/sample_set/observe/reconcile_cache.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_set {

struct MetaSummary {
  api::Meta meta{};
  bool operator==(const MetaSummary&) const = default;
};

// The CSI drivers of a node.
struct CsiNodeSummary {
  api::Meta meta{};
  std::set<std::string> drivers{};
  bool operator==(const CsiNodeSummary&) const = default;
};

// Of a PaddleJob what a set depends on: neither templates nor the rest of its status are decoded.
struct JobSummary {
  api::ObjectKey key{};
  std::string uid{};
  std::string sample_set{};  // name in sampleSetRef; empty: none
  bool finished = false;
  bool operator==(const JobSummary&) const = default;
};

Result<MetaSummary> decode_meta_summary(const api::Json& object);
Result<VolumeSummary> decode_volume(const api::Json& object);  // PersistentVolume or claim
Result<StatefulSetSummary> decode_stateful_set(const api::Json& object);
Result<NodeSummary> decode_node_summary(const api::Json& object);
Result<CsiNodeSummary> decode_csi_node(const api::Json& object);
Result<JobSummary> decode_job_summary(const api::Json& object);

// An event that says why the StatefulSet controller could not create a pod.
struct FailedCreation {
  std::string message{};  // the server's words
  std::string last{};     // when it happened last, RFC 3339
};
// Absent: it says something else, or is about another object than the one with this uid.
std::optional<FailedCreation> failed_creation(const api::Json& event, const std::string& uid);

// A value that is not base64 is left out.
Result<SecretContents> decode_secret(const api::Json& object);
std::string version_of(const api::Meta& meta);  // "<uid>/<resourceVersion>"

}  // namespace paddle::controllers::sample_set
