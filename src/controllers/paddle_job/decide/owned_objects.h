// SPDX-License-Identifier: Apache-2.0
//
// Which pods and Services a job misses, and which it has too many. All of them are created in one
// wave, and all deleted in one. Pure.

#pragma once

#include <optional>
#include <set>
#include <string>

#include "controllers/paddle_job/actions.h"
#include "controllers/paddle_job/config.h"
#include "controllers/paddle_job/decide/plan_context.h"

namespace paddle::controllers::paddle_job {

// A pod for each empty slot and, with intranet Service, a Service for each slot. A slot whose name
// is in use by a pod of an earlier epoch waits until that pod is gone.
Wave create_missing(const api::PaddleJob& job, const PlanContext& context, const Config& config);

// A job that had all its pods gets another one only when the API server itself confirms that it is
// missing and that the job has not ended: informers show jobs and pods at different times.
bool needs_confirmation(const api::PaddleJob& job, const PlanContext& context);

struct PruneResult {
  Wave wave{};
  std::set<std::string> unread_leases{};  // of the nodes of pods that should be gone by now
  std::optional<WallTime> due{};          // check again at this time
};
// Deletes pods of earlier epochs, pods without a slot, and pods that their node has lost.
PruneResult prune(const api::PaddleJob& job, const PlanContext& context, WallTime now,
                  const Config& config);

// Deletes Services without a slot. Without `may_create`, when a suspended or blocked job waits with
// no pods: all of them.
Wave surplus_services(const api::PaddleJob& job, const PlanContext& context, bool may_create);

Delete delete_pod(const api::Pod& pod, bool force = false);
// Unset when there is no group, or it is not this job's.
std::optional<Delete> delete_pod_group(const api::PaddleJob& job, const World& world);

}  // namespace paddle::controllers::paddle_job
