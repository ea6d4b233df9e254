// SPDX-License-Identifier: Apache-2.0
//
// The conditions of a job, each with one sentence that says what is waited for or what to do. Pure.
//
//   Ready      True while it runs; otherwise why not
//   Complete   True at the end, when all went well         (kubectl wait --for=condition=Complete)
//   Failed     True at the end, when it did not
//   Suspended  only of jobs that are or were suspended
//   Warning    only while something is accepted that was probably not meant

#pragma once

#include "api/paddle_job.h"
#include "base/clock.h"
#include "controllers/paddle_job/decide/status.h"

namespace paddle::controllers::paddle_job {

// `status`: with its phase as it should be.
void set_conditions(const api::PaddleJob& job, const PlanContext& context,
                    api::PaddleJobStatus& status, WallTime now, const Config& config);

}  // namespace paddle::controllers::paddle_job
