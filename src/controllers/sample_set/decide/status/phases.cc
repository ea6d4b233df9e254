// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/status/phases.h"

#include <algorithm>

#include "controllers/sample_set/decide/runtime_liveness.h"

namespace paddle::controllers::sample_set {

bool all_serve(const api::SampleSet& set, const World& world, bool shares_volume) {
  const int wanted = set.spec.effective_partitions();
  if (!world.runtimes || world.runtimes->replicas != wanted || world.runtimes->ready < wanted) {
    return false;
  }
  for (int partition = 0; partition < wanted; ++partition) {
    const RuntimeReport* answer = report_of(world, partition);
    if (!answer || is_silent(answer)) return false;
    if (!answer->status) {  // for a moment only: as it was
      if (set.status.phase != "Ready") return false;
      continue;
    }
    if (!shares_volume && !answer->status->index && !set.spec.no_sync) return false;
  }
  return true;
}

bool warmed_once(const api::SampleSet& set, const World& world,
                 const api::SampleSetStatus& status) {
  if (!set.spec.warms_up_by_itself()) return true;
  if (warm_up_given_up(status, warm_up_progress(world, status))) return true;
  return !status.partitions.empty() && std::ranges::all_of(status.partitions, is_warmed_up);
}

std::string phase_of(const api::SampleSet& set, const World& world, bool shares_volume,
                     const SyncProgress& sync, const api::SampleSetStatus& status) {
  if (synced(status)) {
    const bool good =
        is_bound(world) && all_serve(set, world, shares_volume) && warmed_once(set, world, status);
    return good ? "Ready" : "PartialReady";
  }
  if (!is_bound(world)) return "";
  if (!world.runtimes || world.runtimes->ready == 0) return "Bound";
  if (sync.state == JobsState::kFailed) return "SyncFailed";
  const bool asked = std::ranges::any_of(world.runtime_reports, [](const RuntimeReport& answer) {
    return answer.sync || answer.part;
  });
  return asked ? "Syncing" : "Mount";
}

}  // namespace paddle::controllers::sample_set
