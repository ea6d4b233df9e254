// SPDX-License-Identifier: Apache-2.0
//
// After the end: what is cleaned, what is stopped, and when the job itself goes. Pure.
//
//   cleanPodPolicy says so   pods, Services and the ConfigMap go
//   otherwise                pods stay for their logs, except
//     completed                those that still run: servers do not end by themselves
//     failed                   those that never began; all that still run when time was up
//   always                   the PodGroup goes

#pragma once

#include "controllers/paddle_job/actions.h"
#include "controllers/paddle_job/progress.h"

namespace paddle::controllers {

Plan for_finished(const api::PaddleJob& job, const Sight& sight, WallTime now);

}  // namespace paddle::controllers
