// SPDX-License-Identifier: Apache-2.0
//
// What a job's status says: phase, counters, times and conditions, from what is seen now. Pure.

#pragma once

#include <optional>
#include <string>

#include "api/paddle_job.h"
#include "base/clock.h"
#include "controllers/paddle_job/roster.h"
#include "controllers/paddle_job/setting.h"
#include "controllers/paddle_job/verdict.h"

namespace paddle::controllers {

bool finished(const std::string& phase);  // Completed or Failed: sticky

// What is known besides the job itself.
struct Sight {
  const Roster& roster;
  const World& world;
  Verdict verdict{};
  std::optional<BlockReason> held{};  // what keeps pods from being made
  std::optional<BlockReason> cold{};  // what pods that start now have to do without
  bool pausing = false;               // before the pods of a restart are made
  bool not_elastic_yet = false;       // this run began as an ordinary one, and ends so
};

api::PaddleJobStatus observe(const api::PaddleJob& job, const Sight& sight, WallTime now,
                             const Setting& setting);

// The next epoch: to be stored before anything of it is done.
api::PaddleJobStatus next_epoch(api::PaddleJobStatus status, const Verdict& verdict, WallTime now);

// Users wait for such a change; others (counters, messages) can be told together, a little later.
bool is_news(const api::PaddleJobStatus& before, const api::PaddleJobStatus& after);

// News of a job that is on its way as it should: pods are waited for, containers start. Nothing in
// it has to be remembered, and the next news says more: while other jobs wait for their pods, such
// a status can wait a little.
bool only_on_its_way(const api::PaddleJobStatus& before, const api::PaddleJobStatus& after);

}  // namespace paddle::controllers
