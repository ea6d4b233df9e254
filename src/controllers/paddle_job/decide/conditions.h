// SPDX-License-Identifier: Apache-2.0
//
// The conditions of a job. Each message is one sentence: what the job waits for, or what to do.
// Pure.
//
//   Ready      True while every pod runs or has succeeded, else False with the reason
//   Complete   True after success    (kubectl wait --for=condition=Complete)
//   Failed     True after a failure
//   Suspended  only on jobs that are or were suspended
//   UpdatePending  True while pods keep a template that was edited since; else absent
//   DataLocal  False while workers run away from the cached samples; else absent
//   DataWarm   False when the job was started before its samples were cached; else absent
//   Warning    only while the spec has a probable mistake

#pragma once

#include "api/paddle_job.h"
#include "base/clock.h"
#include "controllers/paddle_job/config.h"
#include "controllers/paddle_job/decide/plan_context.h"

namespace paddle::controllers::paddle_job {

// `status` has its new phase already.
void set_conditions(const api::PaddleJob& job, const PlanContext& context,
                    api::PaddleJobStatus& status, WallTime now, const Config& config);

}  // namespace paddle::controllers::paddle_job
