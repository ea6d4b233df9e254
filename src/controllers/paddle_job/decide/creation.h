// SPDX-License-Identifier: Apache-2.0
//
// What is missing: a pod for each empty seat and, with intranet Service, its Service. All of it at
// once. Pure.

#pragma once

#include "controllers/paddle_job/actions.h"
#include "controllers/paddle_job/decide/status.h"

namespace paddle::controllers::paddle_job {

// A seat whose name is still in use by a pod of an earlier epoch waits for that one's end.
Wave create_missing(const api::PaddleJob& job, const PlanContext& context, const Config& config);

// A job that had all its pods is given another one only when the server itself says that one is
// missing and that the job has not ended: informers see jobs and pods at different times.
bool needs_confirmation(const api::PaddleJob& job, const PlanContext& context);

}  // namespace paddle::controllers::paddle_job
