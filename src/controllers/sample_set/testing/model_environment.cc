// SPDX-License-Identifier: Apache-2.0
//
// The rest of the model's cluster: volume binder, scheduler, kubelets and runtimes.

#include <algorithm>

#include "controllers/sample_set/objects/owned_objects.h"
#include "controllers/sample_set/testing/model_cluster.h"
#include "engine/names.h"

namespace paddle::controllers::sample_set {

using runtime::JobState;

// A claim that has been bound accepts no other volume, and a volume keeps its claim's uid.
void ModelCluster::bind_volume() {
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

void ModelCluster::run_environment() {
  bind_volume();
  if (world.preparation && world.preparation->phase == api::PodPhase::kPending) {
    api::Pod& pod = *world.preparation;
    pod.phase = format_error.empty() ? api::PodPhase::kSucceeded : api::PodPhase::kFailed;
    pod.containers = {{.name = "format",
                       .state = api::ContainerStatus::State::kTerminated,
                       .message = format_error,
                       .ended = now}};
  }
  place_pods();
  run_jobs();
  update_world();
}

std::string ModelCluster::free_node() const {
  for (const auto& node : nodes_) {
    const bool taken =
        std::ranges::any_of(world.pods, [&](const auto& pod) { return pod.node == node.first; });
    if (node.second.ready && !taken) return node.first;
  }
  return "";
}

void ModelCluster::place_pods() {
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
      const auto hash = world.runtimes->meta.annotations[kTemplateHash];
      world.pods.push_back({.meta = {.key = {"train", engine::runtime_pod_name(set, i)},
                                     .uid = "uid-" + std::to_string(++uids_),
                                     .annotations = {{kTemplateHash, hash}},
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

// Every job that runs ends at once, unless its runtime is slow.
void ModelCluster::run_jobs() {
  for (const api::Pod& pod : world.pods) {
    Runtime& state = runtimes_[pod.meta.uid];
    const int partition = std::stoi(pod.meta.key.name.substr(pod.meta.key.name.rfind('-') + 1));
    if (pod.node.empty() || !nodes_[pod.node].ready || state.silent.count() > 0) continue;
    for (auto& [id, job] : state.jobs) {
      if (job.state != JobState::kRunning) continue;
      const bool sync = job.kind == runtime::JobKind::kSync;
      if (sync && slow.contains(partition)) {
        job.progress.bytes_done = 40;
        job.progress.bytes_per_second = 2;
        job.progress.seconds_left = 30;
        continue;
      }
      job.error = sync ? sync_error : warm_error;
      if (!job.progress.cut.empty() && job.error.empty()) job.error = part_errors[partition];
      job.progress.bytes_done = job.progress.bytes_total;
      if (!sync_error.empty() && sync) job.progress.cut.clear();  // it fails before it is divided
      job.state = job.error.empty() ? JobState::kSucceeded : JobState::kFailed;
      if (!job.error.empty()) continue;
      if (sync) {
        indexed_.insert(pod.node);
        continue;
      }
      job.progress.bytes_total = part_bytes;
      job.progress.files_no_room = part_bytes > cache_capacity ? 1 : 0;
      cached_[pod.node] = std::min(part_bytes, cache_capacity);
    }
  }
}

RuntimeReport ModelCluster::report_of_runtime(const api::SampleSet& seen, int partition,
                                              const api::Pod& pod) {
  const Runtime& state = runtimes_[pod.meta.uid];
  RuntimeReport report{.partition = partition};
  if (state.silent.count() > 0) {
    report.error = "runtime " + std::to_string(partition) + " does not answer";
    report.unreachable_for = state.silent;
    return report;
  }
  report.status = runtime::StatusReport{.synced_by = partition == 0 ? synced_by : ""};
  if (indexed_.contains(pod.node)) {
    const bool counts = seen.status.engine != "juicefs";
    report.status->index = runtime::IndexReport{.generation = counts ? generation : 0,
                                                .digest = "d",
                                                .files = 10,
                                                .bytes = part_bytes,
                                                .synced = counts ? synced : 0};
  }
  if (seen.status.engine == "juicefs") {
    report.status->cache.life = pod.node + "/" + std::to_string(client_restarts_[pod.node]);
  }
  report.status->part_bytes = part_bytes;
  report.status->part_cached_bytes = report.status->cache.bytes = cached_[pod.node];
  const auto find_job = [&](const std::string& id) -> std::optional<runtime::JobReport> {
    const auto found = state.jobs.find(id);
    return found == state.jobs.end() ? std::nullopt : std::optional(found->second);
  };
  for (const auto& part : seen.status.sync.value_or(api::SharedSync{}).parts) {
    if (part.index == partition) report.part = find_job(part.id);
  }
  for (const auto& [id, job] : state.jobs) {
    if (job.kind != runtime::JobKind::kWarmup) continue;
    if (!report.status->last_warm_up) report.status->last_warm_up.emplace().ended = true;
    auto& last = *report.status->last_warm_up;
    last.ended = last.ended && ended(job.state);
    last.cleared_since = state.cleared;
    if (seen.status.jobs && id == seen.status.jobs->warmup)
      last.files_no_room = job.progress.files_no_room;
  }
  if (seen.status.jobs) {
    report.sync = find_job(seen.status.jobs->sync);
    report.warmup = find_job(seen.status.jobs->warmup);
    if (report.warmup) report.warmup->cleared_since = state.cleared;
  }
  return report;
}

// What informers and runtimes report to the operator.
void ModelCluster::update_world() {
  world.runtime_nodes.clear();
  world.runtime_reports.clear();
  if (world.drivers) world.drivers->on_node.clear();
  int ready = 0;
  for (int i = 0; i < (world.runtimes ? world.runtimes->replicas : 0); ++i) {
    const api::Pod* pod = pod_of(i);
    if (!pod || pod->node.empty()) continue;
    world.runtime_nodes[pod->node] = nodes_[pod->node];
    if (world.drivers) world.drivers->on_node[pod->node] = {SharedVolumeEngine::kDriver};
    world.runtime_reports.push_back(report_of_runtime(set, i, *pod));
    if (world.runtime_reports.back().status) ++ready;
  }
  if (world.runtimes) world.runtimes->ready = ready;
  world.any_node_ready =
      std::ranges::any_of(nodes_, [](const auto& each) { return each.second.ready; });
}

}  // namespace paddle::controllers::sample_set
