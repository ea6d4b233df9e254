// SPDX-License-Identifier: Apache-2.0
//
// The others in the model's cluster: binder, scheduler, kubelets and runtimes.

#include <algorithm>

#include <nlohmann/json.hpp>

#include "controllers/sample_set/decide/object_updates.h"
#include "controllers/sample_set/testing/model_cluster.h"
#include "engine/names.h"

namespace paddle::controllers::sample_set {

using runtime::JobState;

// A claim that has been bound takes no volume but its own, and a volume keeps its claim's uid.
void Model::bind() {
  const std::string claim = world.claim ? world.claim->meta.uid : "";
  const bool fits = world.volume && world.claim &&
                    (world.volume->claim_uid == claim ||
                     (world.volume->claim_uid.empty() && !bound_.contains(claim)));
  if (world.volume) world.volume->bound = fits;
  if (world.claim) world.claim->bound = fits;
  if (!fits) return;
  world.volume->claim_uid = claim;
  bound_.insert(claim);
}

void Model::follow() {
  bind();
  if (world.preparation && world.preparation->phase == api::PodPhase::kPending) {
    api::Pod& pod = *world.preparation;
    pod.phase = format_error.empty() ? api::PodPhase::kSucceeded : api::PodPhase::kFailed;
    pod.containers = {{.name = "format",
                       .state = api::ContainerStatus::State::kTerminated,
                       .message = format_error,
                       .ended = now}};
  }
  place_pods();
  work();
  look();
}

std::string Model::free_node() const {
  for (const auto& node : nodes_) {
    const bool taken =
        std::ranges::any_of(world.pods, [&](const auto& pod) { return pod.node == node.first; });
    if (node.second.ready && !taken) return node.first;
  }
  return "";
}

void Model::place_pods() {
  if (!world.runtimes) {
    world.pods.clear();
    return;
  }
  const int wanted = world.runtimes->replicas;
  std::erase_if(world.pods, [&](const auto& pod) {
    return std::stoi(pod.meta.key.name.substr(pod.meta.key.name.rfind('-') + 1)) >= wanted;
  });
  for (int i = 0; i < wanted; ++i) {
    api::Pod* pod = pod_of(i);
    if (!pod) {
      const auto mark = world.runtimes->meta.annotations[kTemplateAnnotation];
      world.pods.push_back({.meta = {.key = {"train", engine::runtime_pod_name(set, i)},
                                     .uid = "uid-" + std::to_string(++born_),
                                     .annotations = {{kTemplateAnnotation, mark}},
                                     .owners = {{.kind = "StatefulSet",
                                                 .uid = world.runtimes->meta.uid,
                                                 .controller = true}}}});
      pod = &world.pods.back();
    }
    if (pod->node.empty()) {
      pod->node = free_node();
      pod->unschedulable = pod->node.empty() ? "no node has room" : "";
      if (pod->node.empty()) continue;
      pod->phase = api::PodPhase::kRunning;
      pod->ip = "10.0.0." + std::to_string(i + 1);
    }
  }
}

// Every job that runs ends at once, as the outside lets it.
void Model::work() {
  for (const api::Pod& pod : world.pods) {
    Life& life = lives_[pod.meta.uid];
    const int partition = std::stoi(pod.meta.key.name.substr(pod.meta.key.name.rfind('-') + 1));
    if (pod.node.empty() || !nodes_[pod.node].ready || life.silent.count() > 0) continue;
    for (auto& [id, job] : life.jobs) {
      if (job.state != JobState::kRunning) continue;
      const bool sync = job.kind == runtime::JobKind::kSync;
      if (sync && slow.contains(partition)) {
        job.bytes_done = 40;
        job.bytes_per_second = 2;
        job.seconds_left = 30;
        continue;
      }
      job.error = sync ? sync_error : warm_error;
      if (!job.cut.empty() && job.error.empty()) job.error = part_errors[partition];
      job.bytes_done = job.bytes_total;
      if (!sync_error.empty() && sync) job.cut.clear();  // that is where dividing fails
      job.state = job.error.empty() ? JobState::kSucceeded : JobState::kFailed;
      if (!job.error.empty()) continue;
      if (sync) {
        indexed_.insert(pod.node);
        continue;
      }
      job.bytes_total = part_bytes;
      job.files_no_room = part_bytes > room ? 1 : 0;
      cached_[pod.node] = std::min(part_bytes, room);
    }
  }
}

// What informers and runtimes tell the operator.
void Model::look() {
  world.runtime_nodes.clear();
  world.runtime_reports.clear();
  if (world.drivers) world.drivers->on_node.clear();
  int ready = 0;
  for (int i = 0; i < (world.runtimes ? world.runtimes->replicas : 0); ++i) {
    const api::Pod* pod = pod_of(i);
    if (!pod || pod->node.empty()) continue;
    const NodeSummary& node = nodes_[pod->node];
    world.runtime_nodes[pod->node] = node;
    if (world.drivers) world.drivers->on_node[pod->node] = {SharingBuilder::kDriver};
    Life& life = lives_[pod->meta.uid];
    RuntimeReport answer{.partition = i};
    if (life.silent.count() > 0) {
      answer.error = "runtime " + std::to_string(i) + " does not answer";
      answer.unreachable_for = life.silent;
      world.runtime_reports.push_back(std::move(answer));
      continue;
    }
    ++ready;
    answer.status = runtime::StatusReport{.synced_by = i == 0 ? synced_by : ""};
    if (indexed_.contains(pod->node)) {
      const bool counts = set.status.engine != "juicefs";
      answer.status->index = runtime::IndexReport{.generation = counts ? generation : 0,
                                                  .digest = "d",
                                                  .files = 10,
                                                  .bytes = part_bytes,
                                                  .synced = counts ? synced : 0};
    }
    if (set.status.engine == "juicefs") {
      answer.status->cache.life = pod->node + "/" + std::to_string(client_[pod->node]);
    }
    answer.status->part_bytes = part_bytes;
    answer.status->part_cached_bytes = answer.status->cache.bytes = cached_[pod->node];
    const auto report = [&](const std::string& id) -> std::optional<runtime::JobReport> {
      const auto found = life.jobs.find(id);
      return found == life.jobs.end() ? std::nullopt : std::optional(found->second);
    };
    for (const auto& part : set.status.sync.value_or(api::SharedSync{}).parts) {
      if (part.index == i) answer.part = report(part.id);
    }
    for (const auto& [id, job] : life.jobs) {
      if (job.kind != runtime::JobKind::kWarmup) continue;
      if (!answer.status->last_warm_up) answer.status->last_warm_up.emplace().ended = true;
      auto& last = *answer.status->last_warm_up;
      last.ended = last.ended && ended(job.state);
      last.cleared_since = life.cleared;
      if (set.status.jobs && id == set.status.jobs->warmup) last.files_no_room = job.files_no_room;
    }
    if (set.status.jobs) {
      answer.sync = report(set.status.jobs->sync);
      answer.warmup = report(set.status.jobs->warmup);
      if (answer.warmup) answer.warmup->cleared_since = life.cleared;
    }
    world.runtime_reports.push_back(std::move(answer));
  }
  if (world.runtimes) world.runtimes->ready = ready;
  world.any_node_ready =
      std::ranges::any_of(nodes_, [](const auto& each) { return each.second.ready; });
}

}  // namespace paddle::controllers::sample_set
