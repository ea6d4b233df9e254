// SPDX-License-Identifier: Apache-2.0
//
// The actions of a plan for one SampleJob. Values; execute/plan_executor.h executes them.
//
// Each action is a wave of its own: the runtimes receive their parts in order (the first one
// divides a sync that they share), and what follows an action that failed is not executed. The
// status is written last, so it never claims what has not been done.

#pragma once

#include <string>
#include <utility>
#include <variant>

#include "api/sample_job.h"
#include "controllers/plan/plan.h"
#include "controllers/runtime_jobs/fanout.h"

namespace paddle::controllers::sample_job {

using runtime_jobs::CancelJob;
using runtime_jobs::PutJob;

// Makes the first runtime record a sync as complete, after all parts of it have succeeded.
struct MarkSyncComplete {
  std::string id{};
  bool operator==(const MarkSyncComplete&) const = default;
};

// Creates a run of a schedule.
struct CreateRun {
  api::SampleJob run{};
  bool operator==(const CreateRun&) const = default;
};

struct DeleteRun {
  api::ObjectKey key{};
  std::string uid{};
  bool operator==(const DeleteRun&) const = default;
};

// Deletes the job that the plan is for.
struct DeleteJob {
  bool operator==(const DeleteJob&) const = default;
};

struct RemoveFinalizer {
  std::string finalizer{};
  bool operator==(const RemoveFinalizer&) const = default;
};

using Action = std::variant<PutJob, CancelJob, MarkSyncComplete, CreateRun, DeleteRun, DeleteJob,
                            RemoveFinalizer, EmitEvent>;
using Plan = PlanOf<Action, api::SampleJobStatus>;

}  // namespace paddle::controllers::sample_job
