// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/status/status.h"

#include "controllers/sample_set/decide/automatic_jobs.h"
#include "controllers/sample_set/decide/first_sync.h"
#include "controllers/sample_set/decide/reasons.h"
#include "controllers/sample_set/decide/status/cache_stats.h"
#include "controllers/sample_set/decide/status/conditions.h"
#include "controllers/sample_set/decide/status/phases.h"
#include "controllers/sample_set/decide/status/uncached_reason.h"

namespace paddle::controllers::sample_set {
namespace {

// Increments the generation for a sync that was not counted yet. A runtime that has lost its
// journal reports no sync, which changes nothing.
void count_sync(const api::SampleSet& set, const std::string& by, api::IndexStatus& index) {
  const bool first = index.synced_by.empty() && set.status.jobs && by == set.status.jobs->sync;
  const bool next = !by.empty() && by != index.synced_by && !first;
  if (index.generation == 0 || next) ++index.generation;
  if (!by.empty()) index.synced_by = by;
}

// Some engines count the generations of their index; for the others each sync is one.
std::optional<api::IndexStatus> next_index(const api::SampleSet& set, const World& world,
                                           bool synced) {
  for (const RuntimeReport& report : world.runtime_reports) {
    if (!report.status || !report.status->index) continue;
    api::IndexStatus index = set.status.index.value_or(api::IndexStatus{});
    const auto& reported = *report.status->index;
    if (reported.generation > 0) index.generation = reported.generation;
    if (reported.generation == 0 && synced) count_sync(set, report.status->synced_by, index);
    index.digest = reported.digest;
    index.left_out = reported.left_out.count;
    index.left_out_examples = reported.left_out.examples;
    return index.generation > 0 ? std::optional(index) : set.status.index;
  }
  if (synced && set.spec.no_sync && !set.status.index) return api::IndexStatus{.generation = 1};
  return set.status.index;
}

// The time of a sync is that at which the operator first saw its result.
void record_sync_time(const api::SampleSet& set, WallTime now,
                      std::optional<api::IndexStatus>& index) {
  if (!index || set.spec.no_sync) return;
  const auto& known = set.status.index;
  const bool same =
      known && known->generation == index->generation && known->digest == index->digest;
  if (!same) index->sync_time = now;
}

void update_runtimes_status(const api::SampleSet& set, const World& world, bool shares_volume,
                            api::SampleSetStatus& status) {
  if (!world.runtimes) return;
  api::RuntimeStatus runtimes = status.runtime.value_or(api::RuntimeStatus{});
  runtimes.spec_replicas = set.spec.effective_partitions();
  runtimes.ready_replicas = world.runtimes->ready;
  runtimes.runtime_ready =
      std::to_string(runtimes.ready_replicas) + "/" + std::to_string(runtimes.spec_replicas);
  status.runtime = runtimes;
  status.partitions = partition_stats(set, world, shares_volume);
  record_warm_ups(set, world, shares_volume, status);
}

}  // namespace

// The order matters: later steps read what earlier ones have put into `status`.
api::SampleSetStatus next_status(const api::SampleSet& set, const World& world,
                                 const EngineSelection& selection, WallTime now) {
  const bool shares_volume = selection.builder && selection.builder->shares_volume();
  api::SampleSetStatus status = set.status;
  const auto put = [&](api::Condition condition) {
    api::set_condition(status.conditions, std::move(condition), now);
  };
  const auto put_or_remove = [&](const char* type, std::optional<api::Condition> condition) {
    if (condition) return put(*std::move(condition));
    std::erase_if(status.conditions, [&](const auto& each) { return each.type == type; });
  };
  status.sync = update_first_sync(set, world, now);
  const JobProgress sync = sync_progress(set, world, shares_volume, status.sync);
  if (!selection.engine.empty()) status.engine = selection.engine;
  if (world.volume) status.volume_name = world.volume->meta.key.name;
  update_cache_stats(world, status);
  if (!status.cache && !selection.namespace_cache.empty()) status.cache.emplace();
  if (status.cache) status.cache->namespace_cache = selection.namespace_cache;
  update_runtimes_status(set, world, shares_volume, status);
  put(bound_condition(set, world));
  put(runtime_condition(set, world));
  if (!is_synced(status)) put(synced_condition(set, sync));
  status.index = next_index(set, world, is_synced(status));
  record_sync_time(set, now, status.index);
  put_or_remove(condition_type::kSamplesLeftOut, samples_left_out_condition(set, status));
  put(degraded_condition(set, world, selection.blocked));
  if (!selection.manifests.csi_driver.empty()) {
    put(driver_condition(set, world, selection.manifests));
  }
  put_or_remove(condition_type::kVolumeShared, volume_shared_condition(set, world));
  status.phase = phase_of(set, world, shares_volume, sync, status);
  if (is_synced(status)) status.sync.reset();
  assign_job_ids(set, world, shares_volume, now, status);
  set_uncached_reasons(set, world, status);
  put(warmed_condition(set, world, status));
  put(ready_condition(set, world, selection, sync, status));
  status.observed_generation = set.meta.generation;
  return status;
}

}  // namespace paddle::controllers::sample_set
