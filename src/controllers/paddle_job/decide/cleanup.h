// SPDX-License-Identifier: Apache-2.0
//
// What happens to the objects of a finished job, and to the job itself. Pure.
//
//   cleanPodPolicy applies   pods, Services and the ConfigMap are deleted
//   otherwise                pods that have ended stay for their logs; the others are
//     completed                deleted: servers do not end by themselves
//     failed                   deleted when they never started, else stopped
//   always                   the PodGroup is deleted
//
// A pod is stopped by the only field of its spec that ends it and keeps it: activeDeadlineSeconds.
// Its kubelet ends the containers within their grace period, keeps their logs, and frees what the
// pod held. A pod that still runs kStopTimeout after the end of the job is deleted.
//
// When ttlSecondsAfterFinished has passed, the job is deleted, and the garbage collector deletes
// the rest.

#pragma once

#include <chrono>
#include <optional>

#include "controllers/paddle_job/actions.h"
#include "controllers/paddle_job/world.h"

namespace paddle::controllers::paddle_job {

inline constexpr std::chrono::minutes kStopTimeout{5};

struct Cleanup {
  Wave wave{};
  std::optional<WallTime> due{};  // the expiry of the job, or the end of kStopTimeout
};
Cleanup clean_up(const api::PaddleJob& job, const World& world, WallTime now);

}  // namespace paddle::controllers::paddle_job
