// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/status/phases.h"

#include <algorithm>

#include "api/phases.h"
#include "controllers/sample_set/decide/runtime_liveness.h"

namespace paddle::controllers::sample_set {
namespace {

// Every runtime answers, and has an index to serve from.
bool all_serve(const api::SampleSet& set, const World& world, bool shares_volume) {
  const int wanted = set.spec.effective_partitions();
  if (!world.runtimes || world.runtimes->replicas != wanted || world.runtimes->ready < wanted) {
    return false;
  }
  for (int partition = 0; partition < wanted; ++partition) {
    const RuntimeReport* report = report_of(world, partition);
    if (!report || is_silent(report)) return false;
    if (!report->status) {  // not silent yet: the phase stays as it was
      if (set.status.phase != api::sample_set_phase::kReady) return false;
      continue;
    }
    if (!shares_volume && !report->status->index && !set.spec.no_sync) return false;
  }
  return true;
}

// Each partition has ended a warm-up on its node, or the set has no automatic warm-up.
bool warmed_up_once(const api::SampleSet& set, const World& world,
                    const api::SampleSetStatus& status) {
  if (!set.spec.warms_up_by_itself()) return true;
  if (warm_up_given_up(status, warm_up_progress(world, status))) return true;
  return !status.partitions.empty() && std::ranges::all_of(status.partitions, is_warmed_up);
}

}  // namespace

std::string phase_of(const api::SampleSet& set, const World& world, bool shares_volume,
                     const JobProgress& sync, const api::SampleSetStatus& status) {
  namespace phase = api::sample_set_phase;
  if (is_synced(status)) {
    const bool ready = is_bound(world) && all_serve(set, world, shares_volume) &&
                       warmed_up_once(set, world, status);
    return ready ? phase::kReady : phase::kPartialReady;
  }
  if (!is_bound(world)) return phase::kNone;
  if (!world.runtimes || world.runtimes->ready == 0) return phase::kBound;
  if (sync.stage == JobStage::kFailed) return phase::kSyncFailed;
  const bool requested =
      std::ranges::any_of(world.runtime_reports,
                          [](const RuntimeReport& report) { return report.sync || report.part; });
  return requested ? phase::kSyncing : phase::kMount;
}

}  // namespace paddle::controllers::sample_set
