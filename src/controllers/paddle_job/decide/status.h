// SPDX-License-Identifier: Apache-2.0
//
// The status of a job: phase, counters, times and conditions (conditions.h), computed from the
// world; how long its write may be delayed; and the events that go with it. Pure.

#pragma once

#include <chrono>
#include <vector>

#include "api/paddle_job.h"
#include "base/clock.h"
#include "controllers/paddle_job/config.h"
#include "controllers/paddle_job/decide/plan_context.h"
#include "controllers/plan/plan.h"

namespace paddle::controllers::paddle_job {

api::PaddleJobStatus current_status(const api::PaddleJob& job, const PlanContext& context,
                                    WallTime now, const Config& config);

// The status of the next epoch: stored before any action of that epoch.
api::PaddleJobStatus next_epoch(api::PaddleJobStatus status, const JobDecision& decision,
                                WallTime now);

// How much longer the write of a changed status may wait, so that changes in quick succession are
// one write; 0: write it now.
//
//   counters and messages   5 s while the job runs, 15 s while it starts
//   a completed index       1 s: until then only this operator knows it; usually the other pods
//                           succeed as well by then, and the job is reported as complete instead
//   progress of a start     30 s while many jobs are queued, which is looked at every 5 s: creating
//                           and releasing their pods goes first, and most jobs run by then
//   everything else         0
std::chrono::nanoseconds status_delay(const api::PaddleJob& job, const api::PaddleJobStatus& status,
                                      const World& world);

// Emitted when `status` has been stored in place of job.status.
std::vector<EmitEvent> status_events(const api::PaddleJob& job, const api::PaddleJobStatus& status);

}  // namespace paddle::controllers::paddle_job
