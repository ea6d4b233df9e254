// SPDX-License-Identifier: Apache-2.0
//
// The samples of a job: what it waits for before its pods are created, and what a worker's pod
// gets. Pure.
//
// Worker i mounts the claim of the SampleSet and goes to the node of partition i. Workers beyond
// the partitions mount the claim and may run on any node; other roles get neither. The node is
// selected by a label that the SampleSet controller sets (engine/names.h), never by its name: a pod
// that is created again after the partition has moved goes to the new node.

#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/core/pod.h"
#include "api/json/json.h"
#include "api/paddle_job.h"
#include "api/sample_set.h"
#include "controllers/plan/plan.h"

namespace paddle::controllers::placement {

// Reasons of the conditions of a job that concern its samples.
namespace reasons {
inline constexpr const char* kSampleSetElsewhere = "SampleSetElsewhere";
inline constexpr const char* kSampleSetMissing = "SampleSetMissing";
inline constexpr const char* kSampleSetGoing = "SampleSetGoing";
inline constexpr const char* kSampleSetNotReady = "SampleSetNotReady";
inline constexpr const char* kSampleSetNotSynced = "SampleSetNotSynced";
inline constexpr const char* kClaimMissing = "ClaimMissing";
inline constexpr const char* kClaimLost = "ClaimLost";
inline constexpr const char* kNoNode = "NoNode";
inline constexpr const char* kDataNotWarm = "DataNotWarm";
inline constexpr const char* kDataGateTimedOut = "DataGateTimedOut";
inline constexpr const char* kNoRoom = "NoRoom";
inline constexpr const char* kCacheCleared = "CacheCleared";
inline constexpr const char* kWarmupFailed = "WarmupFailed";
inline constexpr const char* kPartlyCached = "PartlyCached";
}  // namespace reasons

// Of a node only the labels that begin with paddlepaddle.org/ are kept; its metadata is enough to
// decode it.
struct NodeSummary {
  std::map<std::string, std::string> labels{};
  bool operator==(const NodeSummary&) const = default;
};
Result<NodeSummary> decode_node(const api::Json& object);

struct ClaimSummary {
  api::Meta meta{};
  std::string phase{};  // Pending, Bound, Lost
  bool operator==(const ClaimSummary&) const = default;
};
Result<ClaimSummary> decode_claim(const api::Json& object);

// The labels that nodes of the set's partitions have: its own with the hash, and the contract's.
std::vector<std::string> node_labels_of(const api::SampleSet& set);
// Label -> its values on the nodes of the cluster. Only labels of one set, so about as many values
// as it has partitions, however many nodes there are.
using NodeLabelValues = std::map<std::string, std::set<std::string>>;

// The objects behind a sampleSetRef, as far as they exist.
struct DataSummary {
  std::optional<api::SampleSet> set{};
  std::optional<ClaimSummary> claim{};  // of the set's name, in the job's namespace
  NodeLabelValues node_labels{};        // of node_labels_of(*set)
  bool operator==(const DataSummary&) const = default;
};

// Why the first pods of the job may not be created yet. With a gate it is enough that the set
// exists: the gate waits for the rest (data_gate.h). A job that has pods does not wait any more.
std::optional<BlockReason> data_block_reason(const api::ObjectKey& job,
                                             const api::SampleSetMount& ref,
                                             const DataSummary& data);
// The one error that waiting does not resolve: the set is in another namespace.
std::optional<BlockReason> data_namespace_error(const api::ObjectKey& job,
                                                const api::SampleSetMount& ref);

// ---- affinity ----

// A label of nodes.
struct NodeLabel {
  std::string label{};
  std::string value{};
  bool operator==(const NodeLabel&) const = default;
};

// The label of the node of this partition; unset when no node has it or there is no such partition.
// The contract's label paddlepaddle.org/<engine>-<set>, which sets of the same name in different
// namespaces share, counts only while no node has the set's own label with the hash.
std::optional<NodeLabel> label_of_partition(const api::SampleSet& set, int partition,
                                            const NodeLabelValues& nodes);

// Adds a node affinity to the user's own; adding the same twice changes nothing. Required terms are
// ORed, so the label goes into every one of them. A term without expressions matches no node and is
// left alone: with the label it would match some.
void require_node(api::Json& pod_spec, const NodeLabel& label);
void prefer_node(api::Json& pod_spec, const NodeLabel& label);

// Affinity of worker `index`, required or preferred by field. A pod with a gate gets it when the
// gate is removed, any other when it is created.
void place_worker(api::Json& pod_spec, const api::SampleSetMount& ref, const DataSummary& data,
                  int index);

// On a worker's pod: the runtime of the partition whose node it requires.
inline constexpr const char* kPlacedAnnotation = "batch.paddlepaddle.org/placed-at";
// Its value for worker `index`; empty: the worker may run on any node.
std::string required_runtime(const api::SampleSetMount& ref, const DataSummary& data, int index);
// The pod requires the node of a partition that has none and will get none: the set reports that no
// node takes it, or has fewer partitions now. Created again, the pod may run on any node.
bool has_lost_its_partition(const api::Pod& pod, const DataSummary& data);

// ---- mounts ----

// The index of the training container: the one named paddle, else the first.
std::size_t training_container(const api::Json& containers);

// Adds volume and mounts by the fields of the reference (by default in the training container), and
// the tolerations of the set: the nodes of its partitions may have taints. Nothing that the user
// has already is added again. For every worker.
void mount_samples(api::Json& pod_spec, const api::SampleSetMount& ref, const DataSummary& data);

// For status.sampleSet: the state of the data that the job starts with.
api::DataVersion data_version(const api::SampleSet& set);

}  // namespace paddle::controllers::placement
