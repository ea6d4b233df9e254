// SPDX-License-Identifier: Apache-2.0
//
// What to do next for one PaddleJob, decided from values alone:
//
//   desired(job, world, config, now) -> Plan
//
// No client, no clock, no log: everything that the decision rests on is an argument, and the
// decision is data. The reconciler observes the world, makes a plan, executes it, and plans again.
//
// The tests verify that
//   - a converged world yields an empty plan;
//   - executing plans ends in an empty plan, from any starting point;
//   - everything that is missing is created by one plan;
//   - the order of the objects in the world does not change the plan;
//   - no object is created for a finished or deleted job;
//   - an outdated world leads to waiting or to a rejected write, never to a second copy.

#pragma once

#include "api/paddle_job.h"
#include "base/clock.h"
#include "controllers/paddle_job/actions.h"
#include "controllers/paddle_job/config.h"
#include "controllers/paddle_job/world.h"

namespace paddle::controllers::paddle_job {

Plan desired(const api::PaddleJob& job, const World& world, const Config& config, WallTime now);

}  // namespace paddle::controllers::paddle_job
