// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/status/status_events.h"

#include <algorithm>

#include "controllers/sample_set/decide/automatic_jobs.h"
#include "controllers/sample_set/decide/status/conditions.h"

namespace paddle::controllers::sample_set {
namespace {

constexpr const char* kBlockers[] = {
    "ErrorSecretNotExist", "ErrorDriverNotExist", "SecretElsewhere",  "SpecRefused",
    "EngineUnclear",       "NameTaken",           "PreparationFailed"};

// The condition as it will be, when its reason is another than before.
const api::Condition* turned(const api::SampleSet& set, const api::SampleSetStatus& next,
                             const char* type) {
  const auto* before = api::find_condition(set.status.conditions, type);
  const auto* after = api::find_condition(next.conditions, type);
  return after && (!before || before->reason != after->reason) ? after : nullptr;
}

}  // namespace

void emit_status_events(const api::SampleSet& set, const World& world,
                        const api::SampleSetStatus& next, const EngineSelection& selection,
                        Plan& plan) {
  const auto tell = [&](bool warning, const std::string& reason, const std::string& message) {
    plan.actions.emplace_back(Tell{warning, reason, message});
  };
  if (const auto* ready = turned(set, next, "Ready")) {
    if (std::ranges::find(kBlockers, ready->reason) != std::end(kBlockers)) {
      const std::string& event = selection.blocked.event;
      tell(true, event.empty() ? ready->reason : event, ready->message);
    }
  }
  if (const auto* driver = turned(set, next, "CSIDriverMissing")) {
    if (driver->status == "True") tell(true, "CSIDriverMissing", driver->message);
  }
  if (const auto* degraded = turned(set, next, "Degraded")) {
    const bool said_below = degraded->reason == kActionRefused;
    if (degraded->status == "True" && !said_below) tell(true, degraded->reason, degraded->message);
  }
  const auto* amiss = api::find_condition(set.status.conditions, "Degraded");
  for (const std::string& refused : rejection_messages(world)) {
    const bool known = amiss && amiss->message.find(refused) != std::string::npos;
    if (!known) tell(true, kActionRefused, refused);
  }
  if (const auto* warmed = turned(set, next, "Warmed")) {
    if (warmed->reason == "WarmupFailed") tell(true, "ErrorDoWarmupJob", warmed->message);
    if (warmed->reason == "WarmedUp") tell(false, "DoWarmupJobSuccessfully", warmed->message);
  }
  // Told again when other objects are concerned, which the message says.
  if (const auto* left_out = api::find_condition(next.conditions, kLeftOut)) {
    const auto* before = api::find_condition(set.status.conditions, kLeftOut);
    if (!before || before->message != left_out->message) tell(true, kLeftOut, left_out->message);
  }
  for (const auto& before : set.status.partitions) {
    const auto after =
        std::ranges::find(next.partitions, before.index, &api::PartitionStatus::index);
    if (!is_warmed_up(before) || after == next.partitions.end()) continue;
    if (after->node != before.node || !after->warmed.empty()) continue;
    tell(true, "CacheLost",
         "node " + after->node + " has lost what was cached of partition " +
             std::to_string(after->index) + "; it is warmed up again");
  }
  if (synced(next) && !synced(set.status)) {
    tell(false, "DoSyncJobSuccessfully", "the samples are listed");
  }
  if (next.phase == set.status.phase) return;
  if (next.phase == "SyncFailed") {
    const auto* why = api::find_condition(next.conditions, "Ready");
    tell(true, "ErrorDoSyncJob", why ? why->message : "");
  }
  if (next.phase == "Ready") tell(false, "Ready", "every runtime serves the samples");
}

}  // namespace paddle::controllers::sample_set
