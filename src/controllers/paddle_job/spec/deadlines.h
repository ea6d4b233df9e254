// SPDX-License-Identifier: Apache-2.0
//
// The times at which something happens to a job even if no object changes: its deadline, its expiry
// after the end, and the end of the pause before a restart. Pure.

#pragma once

#include <chrono>
#include <optional>

#include "api/paddle_job.h"
#include "base/clock.h"

namespace paddle::controllers::paddle_job {

// activeDeadlineSeconds after the job was created or last resumed; unset without a deadline. A job
// whose status still calls it suspended is being resumed now.
std::optional<WallTime> deadline_of(const api::PaddleJob& job, WallTime now);

// When a finished job is deleted: ttlSecondsAfterFinished after its end. Unset: never.
std::optional<WallTime> expiry_of(const api::PaddleJob& job);

// When the pods of a restarted job are created: at once after the first restart, then 10 s, 20 s,
// ... 5 min after the restart. A restart that is not counted (decide/failure_policy.h) has no
// pause.
std::optional<WallTime> restart_due(const api::PaddleJob& job);
std::chrono::seconds restart_backoff(int restarts);

}  // namespace paddle::controllers::paddle_job
