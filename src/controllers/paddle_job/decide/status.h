// SPDX-License-Identifier: Apache-2.0
//
// What a job's status says: phase, counters, times and conditions, from what is seen now. Pure.

#pragma once

#include <optional>
#include <string>

#include "api/paddle_job.h"
#include "base/clock.h"
#include "controllers/paddle_job/config.h"
#include "controllers/paddle_job/decide/failure_policy.h"
#include "controllers/paddle_job/decide/replica_slots.h"

namespace paddle::controllers::paddle_job {

bool finished(const std::string& phase);  // Completed or Failed: sticky

// What is known besides the job itself.
struct PlanContext {
  const ReplicaSlots& slots;
  const World& world;
  JobDecision decision{};
  std::optional<BlockReason> blocked{};  // what keeps pods from being made
  std::optional<BlockReason> cold{};     // what pods that start now have to do without
  bool in_backoff = false;               // before the pods of a restart are made
  bool began_without_etcd = false;       // this run began as an ordinary one, and ends so
};

api::PaddleJobStatus current_status(const api::PaddleJob& job, const PlanContext& context,
                                    WallTime now, const Config& config);

// The next epoch: to be stored before anything of it is done.
api::PaddleJobStatus next_epoch(api::PaddleJobStatus status, const JobDecision& decision,
                                WallTime now);

// Users wait for such a change; others (counters, messages) can be told together, a little later.
bool is_significant(const api::PaddleJobStatus& before, const api::PaddleJobStatus& after);

// News of a job that is on its way as it should: pods are waited for, containers start. Nothing in
// it has to be remembered, and the next news says more: while other jobs wait for their pods, such
// a status can wait a little.
bool is_startup_progress(const api::PaddleJobStatus& before, const api::PaddleJobStatus& after);

}  // namespace paddle::controllers::paddle_job
