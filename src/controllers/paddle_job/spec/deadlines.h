// SPDX-License-Identifier: Apache-2.0
//
// The times by which something happens to a job even if nothing changes: its deadline, its end of
// life, and the pause before it begins anew. Pure.

#pragma once

#include <chrono>
#include <optional>

#include "api/paddle_job.h"
#include "base/clock.h"

namespace paddle::controllers::paddle_job {

// activeDeadlineSeconds after it was created or last resumed; nothing without a deadline. A job
// whose status still calls it suspended is resumed now.
std::optional<WallTime> deadline_of(const api::PaddleJob& job, WallTime now);

// When a finished job is deleted: ttlSecondsAfterFinished after its end.
std::optional<WallTime> expiry_of(const api::PaddleJob& job);

// Pods of a job that was restarted are made at this time: at once after the first restart, then
// after 10 s, 20 s, ... 5 min, counted from the restart. A restart that is not counted (verdict.h)
// never waits.
std::optional<WallTime> restart_due(const api::PaddleJob& job);
std::chrono::seconds restart_backoff(int restarts);

}  // namespace paddle::controllers::paddle_job
