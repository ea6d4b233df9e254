// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/spec/deadlines.h"

#include <algorithm>

#include "base/backoff.h"

namespace paddle::controllers::paddle_job {
namespace {

using std::chrono::seconds;
constexpr seconds kFirstPause{10};
constexpr seconds kLongestPause{300};
// Longer than any job; keeps sums of times from overflowing.
constexpr std::int64_t kLongest = 100LL * 365 * 86'400;

WallTime after(WallTime start, std::int64_t count) {
  return start + seconds{std::clamp<std::int64_t>(count, 0, kLongest)};
}

}  // namespace

std::optional<WallTime> deadline_of(const api::PaddleJobSpec& spec,
                                    const api::PaddleJobStatus& status) {
  if (!spec.active_deadline_seconds || !status.active_time) return std::nullopt;
  return after(*status.active_time, *spec.active_deadline_seconds);
}

std::int32_t recent_disruptions(const api::PaddleJobStatus& status, WallTime now) {
  const auto& since = status.running_time;
  return since && now >= *since + kDisruptionRefill ? 0 : status.disruptions;
}

std::optional<WallTime> expiry_of(const api::PaddleJob& job) {
  if (!job.spec.ttl_seconds_after_finished || !job.status.completion_time) return std::nullopt;
  return after(*job.status.completion_time, *job.spec.ttl_seconds_after_finished);
}

std::optional<WallTime> restart_due(const api::PaddleJob& job) {
  if (!job.status.restart_time) return std::nullopt;
  const auto& status = job.status;
  const auto pause =
      restart_backoff(status.failures + status.disruptions + status.ignored_failures);
  return *job.status.restart_time + pause;
}

seconds restart_backoff(int restarts) {
  if (restarts <= 1) return seconds{0};
  return std::chrono::floor<seconds>(backoff(kFirstPause, restarts - 1, kLongestPause));
}

}  // namespace paddle::controllers::paddle_job
