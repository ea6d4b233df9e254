// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/status/status_events.h"

#include <algorithm>

#include "api/phases.h"
#include "controllers/sample_set/decide/automatic_jobs.h"
#include "controllers/sample_set/decide/reasons.h"
#include "controllers/sample_set/decide/status/conditions.h"

namespace paddle::controllers::sample_set {
namespace {

// The reasons of Ready that are worth an event.
constexpr const char* kBlocking[] = {
    reason::kSecretNotFound,    reason::kEngineUnknown, reason::kSecretElsewhere,
    reason::kSpecRefused,       reason::kEngineUnclear, reason::kNameTaken,
    reason::kPreparationFailed, reason::kFailedCreate,  reason::kCacheLimit};

// The next condition when its reason changes; otherwise null.
const api::Condition* changed(const api::SampleSet& set, const api::SampleSetStatus& next,
                              const char* type) {
  const auto* before = api::find_condition(set.status.conditions, type);
  const auto* after = api::find_condition(next.conditions, type);
  return after && (!before || before->reason != after->reason) ? after : nullptr;
}

class StatusEvents {
 public:
  StatusEvents(const api::SampleSet& set, const api::SampleSetStatus& next, Plan& plan)
      : set_(set), next_(next), plan_(plan) {}

  void of_ready(const EngineSelection& selection) {
    const auto* ready = changed(set_, next_, condition_type::kReady);
    if (!ready || std::ranges::find(kBlocking, ready->reason) == std::end(kBlocking)) return;
    warn(selection.event.empty() ? ready->reason : selection.event, ready->message);
  }

  void of_engine(const EngineSelection& selection) {
    if (selection.unused.empty() || !set_.status.engine.empty() || next_.engine.empty()) return;
    inform(event_reason::kJuicefsNotUsed, selection.unused);
  }

  void of_driver() {
    const auto* driver = changed(set_, next_, condition_type::kCsiDriverMissing);
    if (driver && driver->status == "True") warn(reason::kCsiDriverMissing, driver->message);
  }

  void of_degraded(const World& world) {
    const auto* degraded = changed(set_, next_, condition_type::kDegraded);
    if (degraded && degraded->status == "True" && degraded->reason != reason::kActionRefused) {
      warn(degraded->reason, degraded->message);
    }
    const auto* before = api::find_condition(set_.status.conditions, condition_type::kDegraded);
    for (const std::string& message : rejection_messages(world)) {
      const bool known = before && before->message.find(message) != std::string::npos;
      if (!known) warn(reason::kActionRefused, message);
    }
  }

  void of_warmed() {
    const auto* warmed = changed(set_, next_, condition_type::kWarmed);
    if (!warmed) return;
    if (warmed->reason == reason::kWarmupFailed) {
      warn(event_reason::kWarmUpFailed, warmed->message);
    }
    if (warmed->reason == reason::kWarmedUp) {
      inform(event_reason::kWarmUpSucceeded, warmed->message);
    }
  }

  // Emitted again when other objects are left out, which changes the message.
  void of_samples_left_out() {
    const char* type = condition_type::kSamplesLeftOut;
    const auto* left_out = api::find_condition(next_.conditions, type);
    if (!left_out) return;
    const auto* before = api::find_condition(set_.status.conditions, type);
    if (!before || before->message != left_out->message) warn(type, left_out->message);
  }

  void of_partitions() {
    for (const auto& before : set_.status.partitions) {
      const auto after =
          std::ranges::find(next_.partitions, before.index, &api::PartitionStatus::index);
      if (!is_warmed_up(before) || after == next_.partitions.end()) continue;
      if (after->node != before.node || !after->warmed.empty()) continue;
      warn(event_reason::kCacheLost,
           "node " + after->node + " has lost the cached samples of partition " +
               std::to_string(after->index) + "; they are warmed up again");
    }
  }

  void of_sync() {
    if (is_synced(next_) && !is_synced(set_.status)) {
      inform(event_reason::kSyncSucceeded, "the list of samples is published");
    }
  }

  void of_phase() {
    if (next_.phase == set_.status.phase) return;
    if (next_.phase == api::sample_set_phase::kSyncFailed) {
      const auto* ready = api::find_condition(next_.conditions, condition_type::kReady);
      warn(event_reason::kSyncFailed, ready ? ready->message : "");
    }
    if (next_.phase == api::sample_set_phase::kReady) {
      inform(reason::kReady, "all runtimes serve the samples");
    }
  }

 private:
  void warn(const std::string& reason, const std::string& message) {
    plan_.add(EmitEvent{true, reason, message});
  }
  void inform(const std::string& reason, const std::string& message) {
    plan_.add(EmitEvent{false, reason, message});
  }

  const api::SampleSet& set_;
  const api::SampleSetStatus& next_;
  Plan& plan_;
};

}  // namespace

void emit_status_events(const api::SampleSet& set, const World& world,
                        const api::SampleSetStatus& next, const EngineSelection& selection,
                        Plan& plan) {
  StatusEvents events(set, next, plan);
  events.of_ready(selection);
  events.of_engine(selection);
  events.of_driver();
  events.of_degraded(world);
  events.of_warmed();
  events.of_samples_left_out();
  events.of_partitions();
  events.of_sync();
  events.of_phase();
}

}  // namespace paddle::controllers::sample_set
