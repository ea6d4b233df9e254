// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/decide/cancellation.h"

#include "api/phases.h"

namespace paddle::controllers::sample_job {

void cancel_abandoned_parts(const PlanContext& context, api::SampleJobStatus& status, Plan& plan) {
  const World& world = context.world;
  // Without its set there is no runtime left to cancel anything at.
  const int partitions = world.set ? context.partitions() : 0;
  runtime_jobs::cancel_abandoned(world.reports, partitions, status.left,
                                 [&](const api::JobPartition& part) {
                                   plan.add(CancelJob{part.index, part.id});
                                 });
}

void cancel_unfinished_parts(const PlanContext& context, const std::string& message,
                             api::SampleJobStatus& status, Plan& plan) {
  for (auto& part : status.partitions) {
    if (api::partition_state::is_final(part.state)) continue;
    if (runtime_jobs::is_reachable(context.world.reports, part.index)) {
      plan.add(CancelJob{part.index, part.id});
    } else if (context.world.set) {
      status.left.push_back({.index = part.index, .id = part.id});
    }
    part.state = api::partition_state::kCancelled;
    if (!message.empty()) part.message = message;
  }
}

}  // namespace paddle::controllers::sample_job
