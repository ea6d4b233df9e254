// SPDX-License-Identifier: Apache-2.0
#include "controllers/placement/set_state.h"

#include "api/phases.h"
#include "controllers/placement/placement.h"

namespace paddle::controllers::placement {
namespace {

namespace phase = api::sample_set_phase;

}  // namespace

bool has_no_node(const api::SampleSet& set) {
  const auto* degraded = api::find_condition(set.status.conditions, "Degraded");
  return degraded && degraded->status == "True" && degraded->reason == reasons::kNoNode;
}

bool has_samples(const api::SampleSet& set) {
  if (set.spec.no_sync) return true;
  // The phases of a set that has been synced.
  return set.status.phase == phase::kReady || set.status.phase == phase::kPartialReady;
}

std::string sync_failure_advice(const api::SampleSet& set) {
  if (set.status.phase != phase::kSyncFailed) return "";
  const auto* ready = api::find_condition(set.status.conditions, "Ready");
  return (ready ? "; " + ready->message : "") +
         "; correct the SampleSet's source or its Secret; the sync is retried automatically";
}

std::optional<BlockReason> first_sync_block_reason(const api::SampleSet& set) {
  if (has_samples(set)) return std::nullopt;
  const std::string& current = set.status.phase;
  std::string text = "waiting for the first sync of the SampleSet " + set.meta.key.name +
                     ", which is " + (current.empty() ? "new" : current);
  const auto* ready = api::find_condition(set.status.conditions, "Ready");
  if (current == phase::kSyncFailed) {
    text += sync_failure_advice(set);
  } else if (current != phase::kSyncing && ready) {  // progress would change the job all the time
    text += " (" + ready->reason + ": " + ready->message + ")";
  }
  if (current != phase::kSyncFailed)
    text += "; see kubectl describe sampleset " + set.meta.key.name;
  return BlockReason{reasons::kSampleSetNotSynced, text};
}

}  // namespace paddle::controllers::placement
