// SPDX-License-Identifier: Apache-2.0
#include "controllers/placement/placement.h"

#include <algorithm>
#include <charconv>

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "api/phases.h"
#include "base/stable_hash.h"
#include "controllers/placement/set_state.h"
#include "engine/names.h"

namespace paddle::controllers::placement {
namespace {

using api::Json;
namespace phase = api::sample_set_phase;

constexpr const char* kOurLabels = "paddlepaddle.org/";

constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr const char* kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
constexpr int kGreatestWeight = 100;

bool is_dns_label(const std::string& name) {
  const auto legal = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= 63 && legal(name.front()) && legal(name.back()) &&
         std::ranges::all_of(name, [&](char c) { return legal(c) || c == '-'; });
}

bool has_volume(const Json& volumes, const std::string& name) {
  return std::ranges::any_of(volumes,
                             [&](const Json& one) { return api::look_text(one, "name") == name; });
}

// The name of the set; another one when that is not valid or the user has a volume of this name.
std::string free_volume_name(const Json& volumes, const std::string& set) {
  if (is_dns_label(set) && !has_volume(volumes, set)) return set;
  std::string name = "samples-" + stable_hash_hex(set);
  while (has_volume(volumes, name)) name += "x";
  return name;
}

// The volume with the set's claim: the user's, or a new one. Returns its name.
std::string volume_of(Json& pod_spec, const api::SampleSetMount& ref) {
  Json& volumes = api::list_in(pod_spec, "volumes");
  for (const Json& one : volumes) {
    const Json& claim = api::look(one, "persistentVolumeClaim");
    const bool same = api::look_text(claim, "claimName") == ref.name &&
                      (ref.read_only || !api::look_flag(claim, "readOnly"));
    if (same) return api::look_text(one, "name");
  }
  std::string name = free_volume_name(volumes, ref.name);
  Json claim = {{"claimName", ref.name}};
  if (ref.read_only) claim["readOnly"] = true;
  volumes.push_back({{"name", name}, {"persistentVolumeClaim", std::move(claim)}});
  return name;
}

bool gets_samples(const api::SampleSetMount& ref, const Json& container, bool trains) {
  if (ref.containers.empty()) return trains;
  return std::ranges::find(ref.containers, api::look_text(container, "name")) !=
         ref.containers.end();
}

void mount_in(Json& container, const std::string& volume, const api::SampleSetMount& ref) {
  Json& mounts = api::list_in(container, "volumeMounts");
  const bool taken = std::ranges::any_of(
      mounts, [&](const Json& one) { return api::look_text(one, "mountPath") == ref.mount_path; });
  if (taken) return;
  // With propagation a file system that is mounted again reaches the running container.
  Json mount = {
      {"name", volume}, {"mountPath", ref.mount_path}, {"mountPropagation", "HostToContainer"}};
  if (ref.read_only) mount["readOnly"] = true;
  mounts.push_back(std::move(mount));
}

void tolerate(Json& pod_spec, const api::SampleSet& set) {
  if (!set.spec.tolerations || !set.spec.tolerations->is_array()) return;
  Json& mine = api::list_in(pod_spec, "tolerations");
  for (const Json& one : *set.spec.tolerations) {
    if (std::ranges::find(mine, one) == mine.end()) mine.push_back(one);
  }
}

std::string engine_of(const api::SampleSet& set) {
  if (!set.status.engine.empty()) return set.status.engine;
  return set.spec.csi && !set.spec.csi->driver.empty() ? set.spec.csi->driver : "juicefs";
}

// The partition whose runtime pod has this name; unset when the set has no such partition.
std::optional<int> partition_of(const api::SampleSet& set, const std::string& runtime_pod) {
  const std::size_t dash = runtime_pod.rfind('-');
  if (dash == runtime_pod.npos) return std::nullopt;
  int index = -1;
  std::from_chars(runtime_pod.data() + dash + 1, runtime_pod.data() + runtime_pod.size(), index);
  const bool exists = index >= 0 && index < set.spec.effective_partitions() &&
                      engine::runtime_pod_name(set, index) == runtime_pod;
  return exists ? std::optional(index) : std::nullopt;
}

Json expression(const NodeLabel& label) {
  return {{"key", label.label}, {"operator", "In"}, {"values", Json::array({label.value})}};
}

Json& node_affinity(Json& pod_spec) {
  if (!pod_spec.is_object()) pod_spec = Json::object();
  return api::object_in(api::object_in(pod_spec, "affinity"), "nodeAffinity");
}

bool contains(const Json& list, const Json& item) {
  return std::ranges::find(list, item) != list.end();
}

bool matches_no_node(const Json& term) {
  const auto none = [&](const char* key) {
    const Json& list = api::look(term, key);
    return !list.is_array() || list.empty();
  };
  return none("matchExpressions") && none("matchFields");
}

}  // namespace

Result<NodeSummary> decode_node(const Json& object) {
  TRY(api::Meta meta, api::decode_meta(object));
  std::erase_if(meta.labels, [](const auto& one) { return !one.first.starts_with(kOurLabels); });
  return NodeSummary{std::move(meta.labels)};
}

Result<ClaimSummary> decode_claim(const Json& object) {
  TRY(api::Meta meta, api::decode_meta(object));
  meta.labels.clear();
  meta.annotations.clear();
  return ClaimSummary{std::move(meta), api::look_text(object, "/status/phase")};
}

std::optional<BlockReason> data_namespace_error(const api::ObjectKey& job,
                                                const api::SampleSetMount& ref) {
  if (ref.ns.empty() || ref.ns == job.ns) return std::nullopt;
  return BlockReason{
      reasons::kSampleSetElsewhere,
      "sampleSetRef.namespace is " + ref.ns +
          ", but a pod cannot mount a volume of another namespace; create the SampleSet in " +
          job.ns};
}

std::optional<BlockReason> data_block_reason(const api::ObjectKey& job,
                                             const api::SampleSetMount& ref,
                                             const DataSummary& data) {
  if (auto error = data_namespace_error(job, ref)) return error;
  if (!data.set) {
    return BlockReason{reasons::kSampleSetMissing,
                       "waiting for the SampleSet " + ref.name + " to be created"};
  }
  if (data.set->meta.deleting()) {
    return BlockReason{
        reasons::kSampleSetGoing,
        "the SampleSet " + ref.name + " is being deleted; create it again to start this job"};
  }
  if (ref.gate) return std::nullopt;
  const auto& phase = data.set->status.phase;
  if (phase != phase::kReady && !(phase == phase::kPartialReady && has_no_node(*data.set))) {
    return BlockReason{reasons::kSampleSetNotReady,
                       "waiting for the SampleSet " + ref.name + ", which is " +
                           (phase.empty() ? "new" : phase) + ", to be Ready" +
                           sync_failure_advice(*data.set)};
  }
  if (!data.claim || data.claim->meta.deleting()) {
    return BlockReason{reasons::kClaimMissing, "waiting for the PersistentVolumeClaim " + ref.name +
                                                   " of the SampleSet to be created"};
  }
  if (data.claim->phase == api::claim_phase::kLost) {
    return BlockReason{reasons::kClaimLost,
                       "the PersistentVolumeClaim " + ref.name +
                           " has lost its volume; delete it, and the SampleSet creates it again"};
  }
  return std::nullopt;
}

std::vector<std::string> node_labels_of(const api::SampleSet& set) {
  return {engine::node_label(set), engine::cache_label(set, engine_of(set))};
}

std::optional<NodeLabel> label_of_partition(const api::SampleSet& set, int partition,
                                            const NodeLabelValues& nodes) {
  if (partition < 0 || partition >= set.spec.effective_partitions()) return std::nullopt;
  for (const std::string& label : node_labels_of(set)) {
    const auto values = nodes.find(label);
    if (values == nodes.end() || values->second.empty()) continue;
    std::string value = engine::runtime_pod_name(set, partition);
    if (!values->second.contains(value)) return std::nullopt;
    return NodeLabel{label, std::move(value)};
  }
  return std::nullopt;
}

void require_node(Json& pod_spec, const NodeLabel& label) {
  Json& required = api::object_in(node_affinity(pod_spec), kRequired);
  Json& terms = api::list_in(required, "nodeSelectorTerms");
  const Json wanted = expression(label);
  if (terms.empty()) {
    terms.push_back({{"matchExpressions", Json::array({wanted})}});
    return;
  }
  for (Json& term : terms) {
    if (!term.is_object() || matches_no_node(term)) continue;
    Json& expressions = api::list_in(term, "matchExpressions");
    if (!contains(expressions, wanted)) expressions.push_back(wanted);
  }
}

void prefer_node(Json& pod_spec, const NodeLabel& label) {
  Json& preferences = api::list_in(node_affinity(pod_spec), kPreferred);
  const Json preference = {
      {"weight", kGreatestWeight},
      {"preference", {{"matchExpressions", Json::array({expression(label)})}}}};
  if (!contains(preferences, preference)) preferences.push_back(preference);
}

std::size_t training_container(const Json& containers) {
  for (std::size_t i = 0; i < containers.size(); ++i) {
    if (api::look_text(containers[i], "name") == "paddle") return i;
  }
  return 0;
}

void mount_samples(Json& pod_spec, const api::SampleSetMount& ref, const DataSummary& data) {
  if (!pod_spec.is_object()) return;
  const std::string volume = volume_of(pod_spec, ref);
  for (const char* kind : {"containers", "initContainers"}) {
    const auto containers = pod_spec.find(kind);
    if (containers == pod_spec.end() || !containers->is_array()) continue;
    const Json* trains = containers.key() == "containers" && !containers->empty()
                             ? &(*containers)[training_container(*containers)]
                             : nullptr;
    for (Json& container : *containers) {
      if (container.is_object() && gets_samples(ref, container, &container == trains)) {
        mount_in(container, volume, ref);
      }
    }
  }
  if (data.set) tolerate(pod_spec, *data.set);
}

void place_worker(Json& pod_spec, const api::SampleSetMount& ref, const DataSummary& data,
                  int index) {
  if (!data.set) return;
  const auto label = label_of_partition(*data.set, index, data.node_labels);
  if (!label) return;
  if (ref.affinity == "preferred") {
    prefer_node(pod_spec, *label);
  } else {
    require_node(pod_spec, *label);
  }
}

std::string required_runtime(const api::SampleSetMount& ref, const DataSummary& data, int index) {
  if (!data.set || ref.affinity == "preferred") return {};
  const auto label = label_of_partition(*data.set, index, data.node_labels);
  return label ? label->value : std::string();
}

bool has_lost_its_partition(const api::Pod& pod, const DataSummary& data) {
  const auto placed = pod.meta.annotations.find(kPlacedAnnotation);
  if (placed == pod.meta.annotations.end() || !data.set) return false;
  if (pod.meta.deleting() || !pod.node.empty() || pod.unschedulable.empty()) return false;
  const auto partition = partition_of(*data.set, placed->second);
  // Of a partition that the set no longer has, no node will have the label.
  if (!partition) return true;
  return has_no_node(*data.set) && !label_of_partition(*data.set, *partition, data.node_labels);
}

api::DataVersion data_version(const api::SampleSet& set) {
  api::DataVersion version{.name = set.meta.key.name};
  if (set.status.index) {
    version.generation = set.status.index->generation;
    version.digest = set.status.index->digest;
  }
  return version;
}

}  // namespace paddle::controllers::placement
