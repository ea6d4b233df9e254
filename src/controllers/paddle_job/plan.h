// SPDX-License-Identifier: Apache-2.0
//
// What to do next for one PaddleJob, decided from values alone.
//
//   desired(job, world, now, setting) -> Plan
//
// No client, no clock, no log: everything the decision rests on is an argument, and the decision
// itself is data. The reconciler reads the world, asks for a plan, carries it out, and asks again.
//
// Properties the tests hold it to:
//   - a converged world yields an empty plan;
//   - carrying a plan out and asking again ends in an empty plan, from any starting point;
//   - everything that is missing is made in one plan;
//   - the order of what is in the world does not change the plan;
//   - a finished or deleted job never creates anything;
//   - an old view of the world leads to waiting or to a refused write, never to a second copy.

#pragma once

#include "api/paddle_job.h"
#include "base/clock.h"
#include "controllers/paddle_job/actions.h"
#include "controllers/paddle_job/config.h"
#include "controllers/paddle_job/world.h"

namespace paddle::controllers::paddle_job {

Plan desired(const api::PaddleJob& job, const World& world, WallTime now, const Config& config);

}  // namespace paddle::controllers::paddle_job
