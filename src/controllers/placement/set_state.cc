// SPDX-License-Identifier: Apache-2.0
#include "controllers/placement/set_state.h"

namespace paddle::controllers {

bool has_no_node(const api::SampleSet& set) {
  const auto* degraded = api::find_condition(set.status.conditions, "Degraded");
  return degraded && degraded->status == "True" && degraded->reason == "NoNode";
}

bool has_samples(const api::SampleSet& set) {
  if (set.spec.no_sync) return true;
  // The phases of a set that has been synced (controllers/sample_set/decide/status/phases.h).
  return set.status.phase == "Ready" || set.status.phase == "PartialReady";
}

std::string advice_on_sync(const api::SampleSet& set) {
  if (set.status.phase != "SyncFailed") return "";
  const auto* ready = api::find_condition(set.status.conditions, "Ready");
  return (ready ? "; " + ready->message : "") +
         "; correct the SampleSet's source or its Secret: the sync is tried again by itself";
}

std::optional<BlockReason> waits_for_first_sync(const api::SampleSet& set) {
  if (has_samples(set)) return std::nullopt;
  const std::string& phase = set.status.phase;
  std::string text = "waiting for the first sync of the SampleSet " + set.meta.key.name +
                     ", which is " + (phase.empty() ? "new" : phase);
  const auto* ready = api::find_condition(set.status.conditions, "Ready");
  if (phase == "SyncFailed") {
    text += advice_on_sync(set);
  } else if (phase != "Syncing" && ready) {  // its progress would change the job with every look
    text += " (" + ready->reason + ": " + ready->message + ")";
  }
  if (phase != "SyncFailed") text += "; see kubectl describe sampleset " + set.meta.key.name;
  return BlockReason{"SampleSetNotSynced", text};
}

}  // namespace paddle::controllers
