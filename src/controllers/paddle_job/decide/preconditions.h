// SPDX-License-Identifier: Apache-2.0
//
// What a job needs before its pods: resources for its gang (Volcano) and its samples. Both block
// only a job that has no pods yet; pods with a data gate wait until their data is warm. Pure.

#pragma once

#include <optional>

#include "controllers/paddle_job/actions.h"
#include "controllers/paddle_job/config.h"
#include "controllers/paddle_job/decide/plan_context.h"

namespace paddle::controllers::paddle_job {

struct Preconditions {
  bool may_create = true;
  std::optional<BlockReason>
      blocked{};                      // set as well when pods may be created, but wait at the gate
  std::optional<BlockReason> cold{};  // the gates are removed although this data is missing
  Wave wave{};                        // the PodGroup, or gates to remove
  std::optional<WallTime> due{};      // check again at this time
};
Preconditions check_preconditions(const api::PaddleJob& job, const PlanContext& context,
                                  WallTime now, const Config& config);

}  // namespace paddle::controllers::paddle_job
