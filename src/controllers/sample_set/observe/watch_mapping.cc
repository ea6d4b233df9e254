// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/observe/watch_mapping.h"

#include <tuple>

#include "api/phases.h"
#include "controllers/sample_set/decide/deletion.h"
#include "engine/names.h"

namespace paddle::controllers::sample_set {

using api::ObjectKey;

std::vector<std::string> to_strings(const std::vector<ObjectKey>& keys) {
  std::vector<std::string> all;
  for (const auto& key : keys) all.push_back(to_string(key));
  return all;
}

std::vector<ObjectKey> set_of_pod(const api::Pod& pod) {
  const auto label = pod.meta.labels.find(engine::kSetLabel);
  if (label == pod.meta.labels.end()) return {};
  return {{pod.meta.key.ns, label->second}};
}

bool is_older(const api::Meta& one, const api::Meta& other) {
  if (!one.created || !other.created) return one.created.has_value();
  return std::tie(*one.created, one.uid) < std::tie(*other.created, other.uid);
}

std::vector<ObjectKey> set_of_job(const JobSummary& job) {
  if (job.sample_set.empty() || job.finished) return {};
  return {{job.key.ns, job.sample_set}};
}

std::vector<ObjectKey> set_of_volume(const VolumeSummary& volume, const std::string& watched_ns) {
  const auto orphan = orphan_of(volume, {});
  const ObjectKey& key = orphan.meta.key;
  if (key.name.empty() || key.ns.empty() || orphan.meta.uid.empty()) return {};
  if (!watched_ns.empty() && key.ns != watched_ns) return {};
  return {key};
}

std::vector<ObjectKey> sets_on_node(const api::Meta& node, const std::string& watched_ns) {
  std::vector<ObjectKey> keys;
  if (watched_ns.empty()) return keys;
  for (const auto& [label, pod] : node.labels) {
    const ObjectKey key{watched_ns, pod.substr(0, pod.rfind("-runtime-"))};
    if (label == engine::node_label({.meta = {.key = key}})) keys.push_back(key);
  }
  return keys;
}

std::vector<ObjectKey> sets_with_pods_on(const kube::Store<api::Pod>& pods,
                                         const std::string& node) {
  std::vector<ObjectKey> keys;
  for (const auto& pod : pods.list(kByNode, node)) {
    for (auto& key : set_of_pod(*pod)) keys.push_back(std::move(key));
  }
  return keys;
}

namespace {

std::string place_in_volume(const api::SampleSet& set) {
  const auto options = set.spec.csi ? set.spec.csi->juicefs : std::nullopt;
  std::string place = options ? options->sub_dir.value_or("") : "";
  while (place.starts_with('/')) place.erase(0, 1);
  while (place.ends_with('/')) place.pop_back();
  return place;
}

}  // namespace

bool share_volume_path(const api::SampleSet& one, const api::SampleSet& other) {
  if (one.meta.key.ns != other.meta.key.ns || one.meta.key.name == other.meta.key.name)
    return false;
  if (one.spec.no_sync || other.spec.no_sync || other.meta.deleting()) return false;
  return one.spec.secret && other.spec.secret && one.spec.secret->name == other.spec.secret->name &&
         place_in_volume(one) == place_in_volume(other);
}

std::vector<std::string> secrets_of(const api::SampleSet& set) {
  std::vector<std::string> names;
  if (set.spec.secret)
    names.push_back(to_string(ObjectKey{set.meta.key.ns, set.spec.secret->name}));
  if (set.spec.source && set.spec.source->secret) {
    names.push_back(to_string(ObjectKey{set.meta.key.ns, set.spec.source->secret->name}));
  }
  return names;
}

}  // namespace paddle::controllers::sample_set
