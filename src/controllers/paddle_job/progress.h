// SPDX-License-Identifier: Apache-2.0
//
// What a job's status says: phase, counters, times and conditions, from what is seen now. Pure.

#pragma once

#include <string>

#include "api/paddle_job.h"
#include "base/clock.h"
#include "controllers/paddle_job/roster.h"

namespace paddle::controllers {

bool finished(const std::string& phase);  // Completed or Failed: sticky

// Why nothing moves; empty type of reason means that nothing holds the job up.
struct Blocker {
  std::string reason{};   // CamelCase, for the condition
  std::string message{};  // one sentence with the next step
};

api::PaddleJobStatus observe(const api::PaddleJob& job, const Roster& roster,
                             const Blocker& blocker, WallTime now);

}  // namespace paddle::controllers
