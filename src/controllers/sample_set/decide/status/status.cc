// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/status/status.h"

#include <algorithm>

#include "controllers/sample_set/decide/automatic_jobs.h"
#include "controllers/sample_set/decide/first_sync.h"
#include "controllers/sample_set/decide/runtime_liveness.h"
#include "controllers/sample_set/decide/status/cache_stats.h"
#include "controllers/sample_set/decide/status/conditions.h"
#include "controllers/sample_set/decide/status/phases.h"
#include "controllers/sample_set/decide/status/uncached_reason.h"

namespace paddle::controllers::sample_set {
namespace {

// Bytes of the partition and how many of them are cached, as its runtime tells them.
void read_bytes(const RuntimeReport& answer, int partitions, api::PartitionStatus& one) {
  const auto& status = *answer.status;
  if (status.part_bytes > 0) {
    one.total_bytes = status.part_bytes;
    one.cached_bytes = status.part_cached_bytes;
    return;
  }
  if (partitions == 1 && status.index) {
    one.total_bytes = status.index->bytes;
  } else if (answer.warmup && answer.warmup->bytes_total > 0) {
    one.total_bytes = answer.warmup->bytes_total;
  } else if (one.warmed.empty() && status.index) {
    one.total_bytes = status.index->bytes;
  }
  one.cached_bytes = std::min(status.cache.bytes, one.total_bytes);
}

std::vector<api::PartitionStatus> partitions_of(const api::SampleSet& set, const World& world,
                                                bool shares_volume) {
  std::vector<api::PartitionStatus> all;
  const auto& before = set.status.partitions;
  for (const api::Pod* pod : runtime_pods(set, world)) {
    const auto index = static_cast<std::int32_t>(all.size());
    api::PartitionStatus one{.index = index};
    if (const auto known = std::ranges::find(before, index, &api::PartitionStatus::index);
        known != before.end()) {
      one = *known;
    }
    one.node = pod ? pod->node : "";
    const RuntimeReport* answer = report_of(world, index);
    if (answer && answer->status) {
      one.ready = shares_volume || answer->status->index.has_value();
      read_bytes(*answer, set.spec.effective_partitions(), one);
    } else if (!answer || is_silent(answer)) {
      one.ready = false;
      one.cached_bytes = 0;
    }
    all.push_back(std::move(one));
  }
  return all;
}

// A sync that has not been counted. A runtime that forgets what it did says nothing new.
void count_sync(const api::SampleSet& set, const std::string& by, api::IndexStatus& index) {
  const bool first = index.synced_by.empty() && set.status.jobs && by == set.status.jobs->sync;
  const bool next = !by.empty() && by != index.synced_by && !first;
  if (index.generation == 0 || next) ++index.generation;
  if (!by.empty()) index.synced_by = by;
}

// Some engines count the states of their list; for the others a sync is the next one.
std::optional<api::IndexStatus> index_of(const api::SampleSet& set, const World& world,
                                         bool is_synced) {
  for (const RuntimeReport& answer : world.runtime_reports) {
    if (!answer.status || !answer.status->index) continue;
    api::IndexStatus index = set.status.index.value_or(api::IndexStatus{});
    const auto& seen = *answer.status->index;
    if (seen.generation > 0) index.generation = seen.generation;
    if (seen.generation == 0 && is_synced) count_sync(set, answer.status->synced_by, index);
    index.digest = seen.digest;
    index.left_out = seen.left_out.count;
    index.left_out_examples = seen.left_out.examples;
    return index.generation > 0 ? std::optional(index) : set.status.index;
  }
  if (is_synced && set.spec.no_sync && !set.status.index) return api::IndexStatus{.generation = 1};
  return set.status.index;
}

void read_figures(const World& world, api::SampleSetStatus& status) {
  // One that does not answer for a moment does not make the sums jump.
  const bool hiccup =
      status.cache && std::ranges::any_of(world.runtime_reports, [](const auto& answer) {
        return !answer.status && !is_silent(&answer);
      });
  const auto figures = cache_stats(world.runtime_reports);
  if (!figures || hiccup) return;
  const api::Opaque rest = status.cache ? status.cache->rest : api::Opaque{};
  status.cache = *figures;
  status.cache->rest = rest;
}

}  // namespace

api::SampleSetStatus observe(const api::SampleSet& set, const World& world,
                             const EngineSelection& selection, WallTime now) {
  const bool shares_volume = selection.builder && selection.builder->shares_volume();
  const auto put = [&](api::SampleSetStatus& status, api::Condition condition) {
    api::set_condition(status.conditions, std::move(condition), now);
  };
  api::SampleSetStatus status = set.status;
  status.sync = update_first_sync(set, world, now);
  const SyncProgress sync = sync_progress(set, world, shares_volume, status.sync);
  if (!selection.engine.empty()) status.engine = selection.engine;
  if (world.volume) status.volume_name = world.volume->meta.key.name;
  read_figures(world, status);
  if (world.runtimes) {
    api::RuntimeStatus runtimes = status.runtime.value_or(api::RuntimeStatus{});
    runtimes.spec_replicas = set.spec.effective_partitions();
    runtimes.ready_replicas = world.runtimes->ready;
    runtimes.runtime_ready =
        std::to_string(runtimes.ready_replicas) + "/" + std::to_string(runtimes.spec_replicas);
    status.runtime = runtimes;
    status.partitions = partitions_of(set, world, shares_volume);
    record_warm_ups(set, world, shares_volume, status);
  }
  put(status, bound_condition(set, world));
  put(status, runtime_condition(set, world));
  if (!synced(status)) put(status, synced_condition(set, sync));
  status.index = index_of(set, world, synced(status));
  if (auto left_out = samples_left_out_condition(set, status)) {
    put(status, *std::move(left_out));
  } else {
    std::erase_if(status.conditions, [](const auto& each) { return each.type == kLeftOut; });
  }
  put(status, degraded_condition(set, world, selection.blocked));
  if (!selection.manifests.csi_driver.empty()) {
    put(status, driver_condition(set, world, selection.manifests));
  }
  if (auto shared = volume_shared_condition(set, world)) {
    put(status, *std::move(shared));
  } else {
    std::erase_if(status.conditions, [](const auto& each) { return each.type == "VolumeShared"; });
  }
  status.phase = phase_of(set, world, shares_volume, sync, status);
  if (synced(status)) status.sync.reset();
  assign_job_ids(set, world, shares_volume, now, status);
  set_uncached_reasons(set, world, status);
  put(status, warmed_condition(set, world, status));
  put(status, ready_condition(set, world, selection, sync, status));
  status.observed_generation = set.meta.generation;
  return status;
}

}  // namespace paddle::controllers::sample_set
