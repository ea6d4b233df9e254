// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/status/status_delay.h"

#include "controllers/runtime_jobs/progress_writes.h"

namespace paddle::controllers::sample_set {
namespace {

api::SampleSetStatus stripped(api::SampleSetStatus status) {
  status.conditions = runtime_jobs::without_progress(std::move(status.conditions));
  status.cache.reset();
  for (api::PartitionStatus& partition : status.partitions) {
    partition.total_bytes = partition.cached_bytes = 0;
  }
  if (status.sync) {
    status.sync->parts = runtime_jobs::without_progress(std::move(status.sync->parts));
  }
  return status;
}

}  // namespace

bool differs_in_progress_only(const api::SampleSetStatus& before,
                              const api::SampleSetStatus& after) {
  return stripped(before) == stripped(after);
}

std::chrono::nanoseconds status_delay(const api::SampleSetStatus& before,
                                      const api::SampleSetStatus& after,
                                      const std::optional<std::chrono::nanoseconds>& since_last) {
  if (!differs_in_progress_only(before, after)) return std::chrono::nanoseconds{0};
  return runtime_jobs::progress_write_delay(since_last);
}

}  // namespace paddle::controllers::sample_set
