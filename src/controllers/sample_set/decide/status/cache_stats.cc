// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/status/cache_stats.h"

#include <algorithm>
#include <cstdio>

#include "base/units.h"
#include "controllers/sample_set/decide/runtime_liveness.h"

namespace paddle::controllers::sample_set {
namespace {

std::string usage_rate(std::int64_t used, std::int64_t size) {
  char text[32];
  const double part = size > 0 ? 100.0 * static_cast<double>(used) / static_cast<double>(size) : 0;
  std::snprintf(text, sizeof text, "%.1f%%", part);
  return text;
}

void update_bytes(const RuntimeReport& report, int partitions, api::PartitionStatus& partition) {
  const auto& status = *report.status;
  if (status.part_bytes > 0) {
    partition.total_bytes = status.part_bytes;
    partition.cached_bytes = status.part_cached_bytes;
    return;
  }
  const bool warms = report.warmup && report.warmup->progress.bytes_total > 0;
  if (warms && !(partitions == 1 && status.index)) {
    partition.total_bytes = report.warmup->progress.bytes_total;
  } else if (status.index && (partitions == 1 || partition.warmed.empty())) {
    partition.total_bytes = status.index->bytes;
  }
  partition.cached_bytes = std::min(status.cache.bytes, partition.total_bytes);
}

}  // namespace

std::optional<api::CacheStatus> cache_stats(const std::vector<RuntimeReport>& reports) {
  api::CacheStatus sum;
  bool any = false;
  std::int64_t files = 0, size = 0, used = 0, avail = 0;
  for (const RuntimeReport& report : reports) {
    if (!report.status) {
      if (report.error.empty()) continue;
      sum.error_message += (sum.error_message.empty() ? "" : "; ") + report.error;
      continue;
    }
    any = true;
    const auto& status = *report.status;
    if (status.index) {
      sum.total_bytes = std::max(sum.total_bytes, status.index->bytes);
      files = std::max(files, status.index->files);
    }
    sum.cached_bytes += status.cache.bytes;
    size += status.cache.disk_size;
    used += status.cache.disk_used;
    avail += status.cache.disk_avail;
  }
  if (!any) return std::nullopt;
  sum.cached_bytes = std::min(sum.cached_bytes, sum.total_bytes);
  sum.total_size = human_size(sum.total_bytes);
  sum.total_files = with_commas(files);
  sum.cached_size = human_size(sum.cached_bytes);
  sum.disk_size = human_size(size);
  sum.disk_used = human_size(used);
  sum.disk_avail = human_size(avail);
  sum.disk_usage_rate = usage_rate(used, size);
  return sum;
}

void update_cache_stats(const World& world, api::SampleSetStatus& status) {
  const bool incomplete =
      status.cache && std::ranges::any_of(world.runtime_reports, [](const auto& report) {
        return !report.status && !is_silent(&report);
      });
  const auto stats = cache_stats(world.runtime_reports);
  if (!stats || incomplete) return;
  const api::Opaque rest = status.cache ? status.cache->rest : api::Opaque{};
  status.cache = *stats;
  status.cache->rest = rest;
}

std::vector<api::PartitionStatus> partition_stats(const api::SampleSet& set, const World& world,
                                                  bool shares_volume) {
  std::vector<api::PartitionStatus> all;
  const auto& stored = set.status.partitions;
  for (const api::Pod* pod : runtime_pods(set, world)) {
    const auto index = static_cast<std::int32_t>(all.size());
    api::PartitionStatus partition{.index = index};
    if (const auto known = std::ranges::find(stored, index, &api::PartitionStatus::index);
        known != stored.end()) {
      partition = *known;
    }
    partition.node = pod ? pod->node : "";
    const RuntimeReport* report = report_of(world, index);
    if (report && report->status) {
      partition.ready = shares_volume || report->status->index.has_value();
      update_bytes(*report, set.spec.effective_partitions(), partition);
    } else if (!report || is_silent(report)) {
      partition.ready = false;
      partition.cached_bytes = 0;
    }
    all.push_back(std::move(partition));
  }
  return all;
}

}  // namespace paddle::controllers::sample_set
