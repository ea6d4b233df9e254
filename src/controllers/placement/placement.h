// SPDX-License-Identifier: Apache-2.0
//
// A job's samples: what it waits for before it has pods, and what a worker's pod gets. Pure.
//
// Worker i mounts the set's claim and goes to the node of partition i. Workers beyond the
// partitions mount it and are free; other roles get neither. The node is named by a label that the
// SampleSet controller keeps on it (engine/names.h), never by its name: a pod made again after the
// partition has moved goes where it is now.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/core/pod.h"
#include "api/json/json.h"
#include "api/paddle_job.h"
#include "api/sample_set.h"
#include "controllers/placement/affinity.h"
#include "controllers/plan/plan.h"

namespace paddle::controllers::placement {

struct NodeSummary {
  api::Meta meta{};  // of its labels only those beginning with paddlepaddle.org/
  bool operator==(const NodeSummary&) const = default;
};
Result<NodeSummary> decode_node(const api::Json& object);

struct ClaimSummary {
  api::Meta meta{};
  std::string phase{};  // Pending, Bound, Lost
  bool operator==(const ClaimSummary&) const = default;
};
Result<ClaimSummary> decode_claim(const api::Json& object);

// What is there of what sampleSetRef names.
struct DataSummary {
  std::optional<api::SampleSet> set{};
  std::optional<ClaimSummary> claim{};  // of the set's name, in the job's namespace
  std::vector<NodeSummary> nodes{};
  bool operator==(const DataSummary&) const = default;
};

// Before the first pods; nothing when they may be created. With a gate it is enough that the set is
// there: the rest is the gate's affair (data_gate.h). A job whose pods are there waits no more.
std::optional<BlockReason> data_block_reason(const api::ObjectKey& job,
                                             const api::SampleSetMount& ref,
                                             const DataSummary& data);
// The one mistake that no waiting cures: the set is in another namespace.
std::optional<BlockReason> data_namespace_error(const api::ObjectKey& job,
                                                const api::SampleSetMount& ref);

// How nodes are told apart by their labels: the node of this partition of the set. Nothing when no
// node carries such a label or there is no such partition. The contract's
// paddlepaddle.org/<engine>-<set>, which two sets of one name share, counts only while no node has
// the set's label with the hash.
std::optional<NodeLabel> label_of_partition(const api::SampleSet& set, int partition,
                                            const std::vector<NodeSummary>& nodes);

// Which of a pod's containers trains: the one called paddle, else the first.
std::size_t training_container(const api::Json& containers);

// Volume and mounts, by the fields of the reference (in the container that trains when it names
// none), and the set's tolerations: the nodes of its
// partitions may have taints. Nothing is doubled that the user has already. For every worker.
void mount_samples(api::Json& pod_spec, const api::SampleSetMount& ref, const DataSummary& data);

// Affinity, required or preferred by field, for worker `index`. A gated pod gets it when its gate
// is lifted, any other when it is made.
void place_worker(api::Json& pod_spec, const api::SampleSetMount& ref, const DataSummary& data,
                  int index);

// On a worker's pod: the runtime of the partition whose node it has to go to.
inline constexpr const char* kPlacedAnnotation = "batch.paddlepaddle.org/placed-at";
// Its value for worker `index`; empty: it may go anywhere.
std::string required_runtime(const api::SampleSetMount& ref, const DataSummary& data, int index);
// The pod has to go to the node of a partition that no node has, and none will: the set says that
// none takes it, or has fewer partitions now. Made again, the pod may go anywhere.
bool has_lost_its_partition(const api::Pod& pod, const DataSummary& data);

// For status.sampleSet: which state of the data the job starts on.
api::DataVersion data_version(const api::SampleSet& set);

}  // namespace paddle::controllers::placement
