// SPDX-License-Identifier: Apache-2.0
//
// Follows the current attempt at a SampleJob: sends each runtime its part, takes over what the
// runtimes report, and ends or interrupts the attempt. Pure.
//
// A divided sync is different in three ways: a part that fails ends the others, parts of runtimes
// that stay away are divided again among the rest, and when all parts have succeeded the first
// runtime records the sync as complete before the status says so.

#pragma once

#include "controllers/sample_job/actions.h"
#include "controllers/sample_job/decide/plan_context.h"

namespace paddle::controllers::sample_job {

// For a job with a current attempt (status.job_name).
void follow(const PlanContext& context, api::SampleJobStatus& status, Plan& plan);

}  // namespace paddle::controllers::sample_job
