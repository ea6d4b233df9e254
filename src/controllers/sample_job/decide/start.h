// SPDX-License-Identifier: Apache-2.0
//
// Starts an attempt at a SampleJob as soon as nothing blocks it, and repeats a failed one after a
// pause. Pure.
//
// An attempt starts with an id and one part per runtime in the status. Only the next plan, which
// reads the stored status, sends requests (progress.h).

#pragma once

#include <string>
#include <vector>

#include "controllers/sample_job/actions.h"
#include "controllers/sample_job/decide/plan_context.h"

namespace paddle::controllers::sample_job {

// For a job without a current attempt.
void start_if_possible(const PlanContext& context, api::SampleJobStatus& status, Plan& plan);

// The partitions whose runtimes have a part in the job.
std::vector<int> target_partitions(const PlanContext& context);

// Gives the status the id of another attempt, or of another division of a sync, without progress.
void begin_attempt(const std::string& id, api::SampleJobStatus& status);

// Repeats a failed attempt after a pause; status.failures already counts it.
void retry_later(const PlanContext& context, const std::string& why, api::SampleJobStatus& status,
                 Plan& plan);

}  // namespace paddle::controllers::sample_job
