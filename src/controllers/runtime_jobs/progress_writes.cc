// SPDX-License-Identifier: Apache-2.0
#include "controllers/runtime_jobs/progress_writes.h"

#include <algorithm>

namespace paddle::controllers::runtime_jobs {

using std::chrono::nanoseconds;

api::Conditions without_progress(api::Conditions conditions) {
  for (api::Condition& each : conditions) each.message.clear();
  return conditions;
}

PartitionJobs without_progress(PartitionJobs parts) {
  for (api::JobPartition& part : parts) {
    part.message.clear();
    part.work.reset();
    part.verification.reset();
    if (part.stalled_since) part.stalled_since = WallTime{};  // whether, not since when
  }
  return parts;
}

nanoseconds progress_write_delay(const std::optional<nanoseconds>& since_last) {
  if (!since_last) return nanoseconds{0};
  return std::max<nanoseconds>(kProgressWriteInterval - *since_last, nanoseconds{0});
}

}  // namespace paddle::controllers::runtime_jobs
