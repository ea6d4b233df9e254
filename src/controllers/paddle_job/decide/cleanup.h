// SPDX-License-Identifier: Apache-2.0
//
// What happens to the objects of a finished job, and to the job itself. Pure.
//
//   cleanPodPolicy applies   pods, Services and the ConfigMap are deleted
//   otherwise                pods stay for their logs, except
//     completed                those that still run: servers do not end by themselves
//     failed                   those that never started; all that still run after a deadline
//   always                   the PodGroup is deleted
//
// When ttlSecondsAfterFinished has passed, the job is deleted, and the garbage collector deletes
// the rest.

#pragma once

#include <optional>

#include "controllers/paddle_job/actions.h"
#include "controllers/paddle_job/world.h"

namespace paddle::controllers::paddle_job {

struct Cleanup {
  Wave wave{};
  std::optional<WallTime> due{};  // the expiry of the job
};
Cleanup clean_up(const api::PaddleJob& job, const World& world, WallTime now);

}  // namespace paddle::controllers::paddle_job
