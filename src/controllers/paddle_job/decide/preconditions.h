// SPDX-License-Identifier: Apache-2.0
//
// What has to be there before a job's pods: room for its gang (Volcano) and its samples. They hold
// only a job that has no pods yet; and gated pods until their data is warm. Pure.

#pragma once

#include <optional>

#include "controllers/paddle_job/actions.h"
#include "controllers/paddle_job/decide/status.h"

namespace paddle::controllers::paddle_job {

struct Preconditions {
  bool may_create = true;
  std::optional<BlockReason> why{};   // also when pods may be created, and wait gated
  std::optional<BlockReason> cold{};  // gates are lifted although data is missing: the time is up
  Wave wave{};                        // the PodGroup, or gates to lift
  std::optional<WallTime> again_at{};
};
Preconditions check_preconditions(const api::PaddleJob& job, const PlanContext& context,
                                  WallTime now, const Config& config);

}  // namespace paddle::controllers::paddle_job
