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
#include "controllers/paddle_job/decide/status.h"

namespace paddle::controllers::paddle_job {

Plan clean_up(const api::PaddleJob& job, const PlanContext& context, WallTime now);

}  // namespace paddle::controllers::paddle_job
