// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/runtime_liveness.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "api/phases.h"
#include "controllers/sample_set/decide/reasons.h"
#include "engine/names.h"

namespace paddle::controllers::sample_set {
namespace {

bool is_on_ready_node(const api::Pod& pod, const World& world) {
  const auto node = world.runtime_nodes.find(pod.node);
  return node != world.runtime_nodes.end() && node->second.ready;
}

// Neither the runtime nor its node's kubelet answers.
bool runtime_is_lost(const api::Pod& pod, const World& world, int partition, WallTime now) {
  const RuntimeReport* report = report_of(world, partition);
  if (pod.meta.deleted || !report) return is_lost(pod, world, now);  // it is not polled
  if (pod.node.empty() || is_on_ready_node(pod, world)) return false;
  return !report->status && report->unreachable_for >= kLostAfter;
}

// A namespace has one pod of each name.
std::map<std::string_view, const api::Pod*> pods_by_name(const std::vector<api::Pod>& pods) {
  std::map<std::string_view, const api::Pod*> all;
  for (const api::Pod& pod : pods) all[pod.meta.key.name] = &pod;
  return all;
}

// Whether it is a pod of the set's StatefulSet.
bool is_of_runtimes(const api::Pod& pod, const World& world) {
  const auto* owner = pod.meta.controller();
  return owner && world.runtimes && owner->uid == world.runtimes->meta.uid;
}

}  // namespace

bool is_lost(const api::Pod& pod, const World& world, WallTime now) {
  if (pod.node.empty() || !world.any_node_ready || is_on_ready_node(pod, world)) return false;
  if (pod.meta.deleted) return now >= *pod.meta.deleted + kDeletionOverdue;
  const auto node = world.runtime_nodes.find(pod.node);
  return node != world.runtime_nodes.end() && node->second.unready_since &&
         now >= *node->second.unready_since + kLostAfter;
}

const RuntimeReport* report_of(const World& world, int partition) {
  const auto place = static_cast<std::size_t>(partition);  // unless some runtimes do not run
  const auto& all = world.runtime_reports;
  if (place < all.size() && all[place].partition == partition) return &all[place];
  const auto found = std::ranges::find(world.runtime_reports, partition, &RuntimeReport::partition);
  return found == world.runtime_reports.end() ? nullptr : &*found;
}

bool is_silent(const RuntimeReport* report) {
  return report && !report->status && report->unreachable_for >= kSilentAfter;
}

std::vector<const api::Pod*> runtime_pods(const api::SampleSet& set, const World& world) {
  const auto by_name = pods_by_name(world.pods);
  std::vector<const api::Pod*> found(static_cast<std::size_t>(set.spec.effective_partitions()));
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto pod = by_name.find(engine::runtime_pod_name(set, static_cast<int>(i)));
    if (pod != by_name.end() && !pod->second->meta.deleting()) found[i] = pod->second;
  }
  return found;
}

std::vector<RunningRuntime> running_runtimes(const api::SampleSet& set, const World& world) {
  const auto by_name = pods_by_name(world.pods);
  std::vector<RunningRuntime> found;
  for (int partition = 0; partition < set.spec.effective_partitions(); ++partition) {
    const auto at = by_name.find(engine::runtime_pod_name(set, partition));
    if (at == by_name.end()) continue;
    const api::Pod& pod = *at->second;
    if (pod.meta.deleting() || pod.ip.empty() || pod.phase != api::PodPhase::kRunning) continue;
    if (!is_of_runtimes(pod, world)) continue;
    found.push_back({partition, pod.ip, pod.meta.uid});
  }
  return found;
}

bool runtimes_missing(const api::SampleSet& set, const World& world, WallTime now) {
  if (!world.runtimes || world.runtimes->meta.deleting()) return false;
  const auto& created = world.runtimes->meta.created;
  if (created && now < *created + kCreationCheck) return false;
  const auto wanted = static_cast<std::size_t>(set.spec.effective_partitions());
  const std::size_t others = world.preparation ? 1 : 0;
  return world.pods.size() < wanted + others;
}

std::chrono::nanoseconds poll_interval(const api::SampleSetStatus& status,
                                       const PollIntervals& intervals) {
  namespace phase = api::sample_set_phase;
  if (status.phase == phase::kMount || status.phase == phase::kSyncing) return intervals.syncing;
  const auto* warmed = api::find_condition(status.conditions, condition_type::kWarmed);
  const bool warming_up = warmed && warmed->reason == reason::kWarmingUp;
  return warming_up ? intervals.warming_up : intervals.always;
}

void replace_lost_runtimes(const api::SampleSet& set, const World& world, WallTime now,
                           Plan& plan) {
  if (!world.any_node_ready || !world.runtimes) return;
  const auto by_name = pods_by_name(world.pods);
  for (int partition = 0; partition < set.spec.effective_partitions(); ++partition) {
    const auto at = by_name.find(engine::runtime_pod_name(set, partition));
    if (at == by_name.end()) continue;
    const api::Pod& pod = *at->second;
    if (!is_of_runtimes(pod, world) || !runtime_is_lost(pod, world, partition, now)) continue;
    const std::string& name = pod.meta.key.name;
    plan.add(EmitEvent{true, event_reason::kRuntimeLost,
                       "node " + pod.node + " is lost; deleting pod " + name +
                           ", which is created again on another node"});
    plan.add(ReplaceRuntime{pod.meta.key, pod.meta.uid, true});
  }
}

void label_nodes(const api::SampleSet& set, const World& world, const std::string& engine,
                 Plan& plan) {
  std::map<std::string, std::string> wanted;  // node -> runtime pod
  std::set<std::string> kept;                 // nodes of these, and of runtimes not silent yet
  int partition = 0;
  for (const api::Pod* pod : runtime_pods(set, world)) {
    const RuntimeReport* report = report_of(world, partition++);
    if (!pod || pod->node.empty() || pod->phase != api::PodPhase::kRunning) continue;
    if (is_silent(report)) continue;
    kept.insert(pod->node);
    if (report && report->status) wanted[pod->node] = pod->meta.key.name;
  }
  const std::string own = engine::node_label(set);
  const std::string shared = engine::cache_label(set, engine);
  std::vector<std::string> labels{own};
  if (!world.has_older_namesake) labels.push_back(shared);
  for (const auto& [node, pod] : wanted) {
    const auto known = world.node_labels.find(node);
    for (const auto& label : labels) {
      if (known != world.node_labels.end()) {
        const auto value = known->second.find(label);
        if (value != known->second.end() && value->second == pod) continue;
      }
      plan.add(LabelNode{node, label, pod});
    }
  }
  for (const auto& [node, found] : world.node_labels) {
    if (kept.contains(node)) continue;
    for (const auto& label : labels) {
      if (found.contains(label)) plan.add(LabelNode{node, label, ""});
    }
  }
}

}  // namespace paddle::controllers::sample_set
