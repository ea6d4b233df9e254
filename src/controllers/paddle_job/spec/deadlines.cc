// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/spec/deadlines.h"

#include <algorithm>

#include "base/backoff.h"
#include "controllers/paddle_job/reasons.h"

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

std::optional<WallTime> deadline_of(const api::PaddleJob& job, WallTime now) {
  if (!job.spec.active_deadline_seconds || !job.meta.created) return std::nullopt;
  WallTime since = *job.meta.created;
  if (const auto* suspended =
          api::find_condition(job.status.conditions, condition_type::kSuspended)) {
    const bool still = suspended->status == "True";
    since = std::max(since, still ? now : suspended->last_transition.value_or(since));
  }
  return after(since, *job.spec.active_deadline_seconds);
}

std::optional<WallTime> expiry_of(const api::PaddleJob& job) {
  if (!job.spec.ttl_seconds_after_finished || !job.status.completion_time) return std::nullopt;
  return after(*job.status.completion_time, *job.spec.ttl_seconds_after_finished);
}

std::optional<WallTime> restart_due(const api::PaddleJob& job) {
  if (!job.status.restart_time) return std::nullopt;
  const auto pause = restart_backoff(job.status.failures + job.status.disruptions);
  return *job.status.restart_time + pause;
}

seconds restart_backoff(int restarts) {
  if (restarts <= 1) return seconds{0};
  return std::chrono::floor<seconds>(backoff(kFirstPause, restarts - 1, kLongestPause));
}

}  // namespace paddle::controllers::paddle_job
