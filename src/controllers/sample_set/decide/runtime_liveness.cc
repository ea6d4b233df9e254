// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/runtime_liveness.h"

#include <algorithm>
#include <set>

#include "engine/names.h"

namespace paddle::controllers::sample_set {
namespace {

constexpr std::chrono::seconds kOverdue{5};

bool is_on_ready_node(const api::Pod& pod, const World& world) {
  const auto host = world.runtime_nodes.find(pod.node);
  return host != world.runtime_nodes.end() && host->second.ready;
}

// Nobody will confirm the end of this pod: not its kubelet, and it does not answer itself.
bool runtime_is_lost(const api::Pod& pod, const World& world, int partition, WallTime now) {
  const RuntimeReport* answer = report_of(world, partition);
  if (pod.meta.deleted || !answer) return is_lost(pod, world, now);  // or it never ran
  if (pod.node.empty() || is_on_ready_node(pod, world)) return false;
  return !answer->status && answer->unreachable_for >= kLostAfter;
}

}  // namespace

bool is_lost(const api::Pod& pod, const World& world, WallTime now) {
  if (pod.node.empty() || !world.any_node_ready || is_on_ready_node(pod, world)) return false;
  if (pod.meta.deleted) return now >= *pod.meta.deleted + kOverdue;
  const auto host = world.runtime_nodes.find(pod.node);
  return host != world.runtime_nodes.end() && host->second.unready_since &&
         now >= *host->second.unready_since + kLostAfter;
}

bool is_bound(const World& world) {
  return world.volume && world.volume->bound && world.claim && world.claim->bound;
}

const RuntimeReport* report_of(const World& world, int partition) {
  const auto found = std::ranges::find(world.runtime_reports, partition, &RuntimeReport::partition);
  return found == world.runtime_reports.end() ? nullptr : &*found;
}

bool is_silent(const RuntimeReport* answer) {
  return answer && !answer->status && answer->unreachable_for >= kSilentAfter;
}

std::vector<const api::Pod*> runtime_pods(const api::SampleSet& set, const World& world) {
  std::vector<const api::Pod*> found(static_cast<size_t>(set.spec.effective_partitions()));
  for (size_t i = 0; i < found.size(); ++i) {
    const std::string name = engine::runtime_pod_name(set, static_cast<int>(i));
    for (const api::Pod& pod : world.pods) {
      if (pod.meta.key.name == name && !pod.meta.deleting()) found[i] = &pod;
    }
  }
  return found;
}

void replace_lost_runtimes(const api::SampleSet& set, const World& world, WallTime now,
                           Plan& plan) {
  if (!world.any_node_ready || !world.runtimes) return;
  for (int partition = 0; partition < set.spec.effective_partitions(); ++partition) {
    const std::string name = engine::runtime_pod_name(set, partition);
    for (const api::Pod& pod : world.pods) {
      const auto* owner = pod.meta.controller();
      const bool ours = owner && owner->uid == world.runtimes->meta.uid;
      if (pod.meta.key.name != name || !ours || !runtime_is_lost(pod, world, partition, now))
        continue;
      plan.actions.emplace_back(Tell{true, "RuntimeLost",
                                     "node " + pod.node + " is lost: " + name +
                                         " is given up, and its successor goes elsewhere"});
      plan.actions.emplace_back(ReplaceRuntime{pod.meta.key, pod.meta.uid, true});
    }
  }
}

void label_nodes(const api::SampleSet& set, const World& world, const std::string& engine,
                 Plan& plan) {
  std::map<std::string, std::string> wanted;  // node -> runtime pod
  std::set<std::string> kept;                 // nodes of these, and of those that hesitate
  int partition = 0;
  for (const api::Pod* pod : runtime_pods(set, world)) {
    const RuntimeReport* answer = report_of(world, partition++);
    if (!pod || pod->node.empty() || pod->phase != api::PodPhase::kRunning) continue;
    if (is_silent(answer)) continue;
    kept.insert(pod->node);
    if (answer && answer->status) wanted[pod->node] = pod->meta.key.name;
  }
  std::vector<std::string> labels{engine::node_label(set)};
  if (!world.has_namesake) labels.push_back(engine::cache_label(set, engine));
  for (const auto& [node, pod] : wanted) {
    const auto there = world.node_labels.find(node);
    for (const auto& label : labels) {
      if (there != world.node_labels.end()) {
        const auto value = there->second.find(label);
        if (value != there->second.end() && value->second == pod) continue;
      }
      plan.actions.emplace_back(LabelNode{node, label, pod});
    }
  }
  const std::string shared = engine::cache_label(set, engine);
  for (const auto& [node, found] : world.node_labels) {
    // Ours, and by now perhaps a namesake's: it says nothing any more.
    const bool ours = found.contains(engine::node_label(set));
    if (world.has_namesake && ours && found.contains(shared)) {
      plan.actions.emplace_back(LabelNode{node, shared, ""});
      continue;  // the other says whose this one is
    }
    if (kept.contains(node)) continue;
    for (const auto& label : labels) {
      if (found.contains(label)) plan.actions.emplace_back(LabelNode{node, label, ""});
    }
  }
}

}  // namespace paddle::controllers::sample_set
