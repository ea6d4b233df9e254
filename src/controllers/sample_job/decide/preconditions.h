// SPDX-License-Identifier: Apache-2.0
//
// What has to be there before a SampleJob may start: its set, Secret and runtimes, and its turn
// among the other jobs of the set. Pure.

#pragma once

#include <string_view>

#include "controllers/plan/plan.h"
#include "controllers/sample_job/decide/plan_context.h"

namespace paddle::controllers::sample_job {

// The first precondition that is not met; blocks() is false when the job may start.
BlockReason block_reason(const PlanContext& context);

// Whether a job that is blocked for this reason waits for something that only it needs: other jobs
// may overtake it.
bool blocks_only_itself(std::string_view reason_name);

}  // namespace paddle::controllers::sample_job
