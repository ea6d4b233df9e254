// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/status/cache_stats.h"

#include <algorithm>
#include <cstdio>

#include "base/units.h"

namespace paddle::controllers::sample_set {
namespace {

std::string rate(std::int64_t used, std::int64_t size) {
  char text[32];
  const double part = size > 0 ? 100.0 * static_cast<double>(used) / static_cast<double>(size) : 0;
  std::snprintf(text, sizeof text, "%.1f%%", part);
  return text;
}

}  // namespace

std::optional<api::CacheStatus> cache_stats(const std::vector<RuntimeReport>& answers) {
  api::CacheStatus sum;
  bool any = false;
  std::int64_t files = 0, size = 0, used = 0, avail = 0;
  for (const RuntimeReport& answer : answers) {
    if (!answer.status) {
      if (answer.error.empty()) continue;
      sum.error_message += (sum.error_message.empty() ? "" : "; ") + answer.error;
      continue;
    }
    any = true;
    const auto& status = *answer.status;
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
  sum.disk_usage_rate = rate(used, size);
  return sum;
}

}  // namespace paddle::controllers::sample_set
