// SPDX-License-Identifier: Apache-2.0
#include "engine/names.h"

#include "base/stable_hash.h"

namespace paddle::engine {
namespace {

constexpr std::size_t kLongestLabel = 63;

std::string uid8(const api::SampleSet& set) { return set.meta.uid.substr(0, 8); }

}  // namespace

std::string handle_of(const api::SampleSet& set) {
  return set.meta.key.ns + "-" + set.meta.key.name + "-" + uid8(set);
}

std::string short_handle_of(const api::SampleSet& set) {
  std::string whole = handle_of(set);
  if (whole.size() <= kLongestLabel) return whole;
  const std::string tail = "-" + stable_hash_hex(whole) + "-" + uid8(set);
  return whole.substr(0, kLongestLabel - tail.size()) + tail;
}

std::string claim_name(const api::SampleSet& set) { return set.meta.key.name; }
std::string runtime_name(const api::SampleSet& set) { return set.meta.key.name + "-runtime"; }
std::string runtime_pod_name(const api::SampleSet& set, int partition) {
  return runtime_name(set) + "-" + std::to_string(partition);
}
std::string service_name(const api::SampleSet& set) {
  return set.meta.key.name + "-runtime-service";
}

std::string volume_secret_name(const api::SampleSet& set) { return set.meta.key.name + "-volume"; }
std::string driver_secret_name(const api::SampleSet& set) { return handle_of(set); }
std::string preparation_name(const api::SampleSet& set) { return runtime_name(set) + "-format"; }

std::string cache_label(const api::SampleSet& set, const std::string& engine) {
  return "paddlepaddle.org/" + engine + "-" + set.meta.key.name;
}

std::string node_label(const api::SampleSet& set) {
  return "paddlepaddle.org/cache-" + stable_hash_hex(set.meta.key.ns + "/" + set.meta.key.name);
}

std::string engine_of(const std::map<std::string, std::string>& labels, const api::SampleSet& set) {
  const std::string head = "paddlepaddle.org/", tail = "-" + set.meta.key.name;
  for (const auto& [label, value] : labels) {
    if (label.size() <= head.size() + tail.size()) continue;
    if (label.starts_with(head) && label.ends_with(tail)) {
      return label.substr(head.size(), label.size() - head.size() - tail.size());
    }
  }
  return {};
}

std::string finalizer_of(const api::SampleSet& set) {
  return "paddlepaddle.org/sampleset-" + set.meta.key.name;
}

api::OwnerReference owner_reference(const api::SampleSet& set) {
  return {.api_version = api::SampleSet::kApiVersion,
          .kind = api::SampleSet::kKind,
          .name = set.meta.key.name,
          .uid = set.meta.uid,
          .controller = true,
          .block_owner_deletion = true};
}

bool belongs_to(const api::Meta& child, const api::SampleSet& set) {
  if (const auto* owner = child.controller()) return owner->uid == set.meta.uid;
  const auto mark = child.annotations.find(kSetUidAnnotation);
  return mark != child.annotations.end() && mark->second == set.meta.uid;
}

}  // namespace paddle::engine
