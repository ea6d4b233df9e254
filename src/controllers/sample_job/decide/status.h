// SPDX-License-Identifier: Apache-2.0
//
// How a SampleJob reports on itself: conditions, events, progress, its end. Pure.

#pragma once

#include <string>

#include "controllers/sample_job/actions.h"
#include "controllers/sample_job/decide/plan_context.h"

namespace paddle::controllers::sample_job {

void set_condition(const PlanContext& context, api::SampleJobStatus& status, const char* type,
                   bool is_true, std::string reason, std::string message);

// "<verb>WarmupJob" for a warm-up: event_reason::kCreate, kDo or kErrorDo, then the type.
std::string event_of(const api::SampleJob& job, const std::string& verb);

// The job ends; `reason` and `message` go to its conditions, the message also to an event.
void succeed(const PlanContext& context, api::SampleJobStatus& status, Plan& plan);
void fail(const PlanContext& context, const std::string& reason, const std::string& message,
          api::SampleJobStatus& status, Plan& plan);
void fail_terminated(const PlanContext& context, const std::string& terminator,
                     api::SampleJobStatus& status, Plan& plan);
void fail_late(const PlanContext& context, api::SampleJobStatus& status, Plan& plan);

// The runtimes are at work: the phase, the condition Ready, and an event at each quarter of the
// bytes.
void report_progress(const PlanContext& context, api::SampleJobStatus& status, Plan& plan);

}  // namespace paddle::controllers::sample_job
