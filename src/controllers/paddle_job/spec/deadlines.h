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

// activeDeadlineSeconds after a pod of the job first had a node, since the job was created or last
// resumed (status.activeTime). Unset without a deadline, and while the job waits for a queue, for
// samples or for a node: it holds nothing then.
std::optional<WallTime> deadline_of(const api::PaddleJobSpec& spec,
                                    const api::PaddleJobStatus& status);

// How many of status.disruptions count against disruptionLimit now: none, when the job had been
// running for kDisruptionRefill since the last one. A limit for life would end every long job.
inline constexpr std::chrono::hours kDisruptionRefill{1};
std::int32_t recent_disruptions(const api::PaddleJobStatus& status, WallTime now);

// When a finished job is deleted: ttlSecondsAfterFinished after its end. Unset: never.
std::optional<WallTime> expiry_of(const api::PaddleJob& job);

// When the pods of a restarted job are created: at once after the first restart, then 10 s, 20 s,
// ... 5 min after the restart. A restart for a change of the spec, or by the owner of a single
// machine, has no pause.
std::optional<WallTime> restart_due(const api::PaddleJob& job);
std::chrono::seconds restart_backoff(int restarts);

}  // namespace paddle::controllers::paddle_job
