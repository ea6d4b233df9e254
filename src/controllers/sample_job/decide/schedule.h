// SPDX-License-Identifier: Apache-2.0
//
// A SampleJob with spec.schedule does nothing itself: it creates a job, a run, for each time that
// is due. The name of a run contains a hash of the minute, so that one minute never creates two.
// Pure.
//
// After downtime, and after a change of the clock, at most one run makes up for what was missed:
// the latest. A run that would be later than startingDeadlineSeconds is skipped. Forbid: the next
// run waits while one is active, and only the latest is made up for. Replace: the active run is
// deleted, which cancels it.

#pragma once

#include "controllers/sample_job/actions.h"
#include "controllers/sample_job/decide/plan_context.h"

namespace paddle::controllers::sample_job {

void follow_schedule(const PlanContext& context, api::SampleJobStatus& status, Plan& plan);

}  // namespace paddle::controllers::sample_job
