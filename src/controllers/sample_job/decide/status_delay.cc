// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/decide/status_delay.h"

#include "controllers/runtime_jobs/progress_writes.h"

namespace paddle::controllers::sample_job {
namespace {

api::SampleJobStatus stripped(api::SampleJobStatus status) {
  status.conditions = runtime_jobs::without_progress(std::move(status.conditions));
  status.partitions = runtime_jobs::without_progress(std::move(status.partitions));
  status.progress.clear();
  status.work.reset();
  status.verification.reset();
  return status;
}

}  // namespace

std::chrono::nanoseconds status_delay(const api::SampleJobStatus& before,
                                      const api::SampleJobStatus& after,
                                      const std::optional<std::chrono::nanoseconds>& since_last) {
  if (stripped(before) != stripped(after)) return std::chrono::nanoseconds{0};
  return runtime_jobs::progress_write_delay(since_last);
}

}  // namespace paddle::controllers::sample_job
