// SPDX-License-Identifier: Apache-2.0
//
// Cancels parts of a job at the runtimes. A part whose runtime cannot be reached is kept in
// status.left until it can be: it may still be running there. Pure.

#pragma once

#include <string>

#include "controllers/sample_job/actions.h"
#include "controllers/sample_job/decide/plan_context.h"

namespace paddle::controllers::sample_job {

// Those in status.left whose runtimes can be reached now.
void cancel_abandoned_parts(const PlanContext& context, api::SampleJobStatus& status, Plan& plan);

// Those that have not ended. `message`: for their entries in the status; empty: none.
void cancel_unfinished_parts(const PlanContext& context, const std::string& message,
                             api::SampleJobStatus& status, Plan& plan);

}  // namespace paddle::controllers::sample_job
