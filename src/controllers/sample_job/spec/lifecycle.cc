// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/spec/lifecycle.h"

#include "api/phases.h"

namespace paddle::controllers::sample_job {

using std::chrono::seconds;

bool restarts(const api::SampleJob& job) {
  return job.status.phase == api::sample_job_phase::kFailed &&
         job.status.observed_generation != job.meta.generation;
}

bool is_over(const api::SampleJob& job) {
  return api::sample_job_phase::is_final(job.status.phase) && !restarts(job);
}

std::optional<WallTime> deadline_of(const api::SampleJob& job, const api::SampleJobStatus& status) {
  if (!job.spec.active_deadline_seconds || !status.start_time) return std::nullopt;
  return *status.start_time + seconds(*job.spec.active_deadline_seconds);
}

std::optional<WallTime> expiry_of(const api::SampleJob& job) {
  if (!job.spec.ttl_seconds_after_finished || !job.status.completion_time) return std::nullopt;
  return *job.status.completion_time + seconds(*job.spec.ttl_seconds_after_finished);
}

}  // namespace paddle::controllers::sample_job
