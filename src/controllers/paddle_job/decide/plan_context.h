// SPDX-License-Identifier: Apache-2.0
//
// What the decisions about one job share: its pods in their slots, the world, and what has been
// decided so far. Filled step by step by plan.cc, read by the other files of this folder. Pure.

#pragma once

#include <optional>

#include "controllers/paddle_job/decide/failure_policy.h"
#include "controllers/paddle_job/decide/pods/replica_slots.h"
#include "controllers/paddle_job/decide/template_change.h"
#include "controllers/paddle_job/world.h"

namespace paddle::controllers::paddle_job {

struct PlanContext {
  const ReplicaSlots& slots;
  const World& world;
  TemplateChange template_change{};
  JobDecision decision{};
  std::optional<BlockReason> blocked{};  // why pods are not created
  std::optional<BlockReason> cold{};     // the data that pods which start now have to do without
  bool in_backoff = false;               // in the pause before the pods of a restart are created
  bool began_without_etcd = false;       // this run began as an ordinary job, and ends as one
};

}  // namespace paddle::controllers::paddle_job
