// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/plan.h"

#include <algorithm>

#include "api/phases.h"
#include "controllers/sample_set/config.h"
#include "controllers/sample_set/decide/automatic_jobs.h"
#include "controllers/sample_set/decide/credential_rollout.h"
#include "controllers/sample_set/decide/deletion.h"
#include "controllers/sample_set/decide/engine_selection.h"
#include "controllers/sample_set/decide/first_sync.h"
#include "controllers/sample_set/decide/object_updates.h"
#include "controllers/sample_set/decide/reasons.h"
#include "controllers/sample_set/decide/runtime_liveness.h"
#include "controllers/sample_set/decide/status/status.h"
#include "controllers/sample_set/decide/status/status_delay.h"
#include "controllers/sample_set/decide/status/status_events.h"
#include "controllers/sample_set/decide/volume_preparation.h"
#include "engine/names.h"

namespace paddle::controllers::sample_set {
namespace {

using std::chrono::seconds;
namespace phase = api::sample_set_phase;

// When to look again at what no watch reports.
seconds retry_interval(const api::SampleSetStatus& status, const World& world,
                       const EngineSelection& selection, WallTime now) {
  if (selection.blocked.reason == reason::kSecretNotFound) return kMissingSecretPass;
  if (selection.blocked.blocks()) return kBlockedInterval;
  if (const auto retry = preparation_retry(world, now)) return *retry;
  if (status.phase == phase::kMount || status.phase == phase::kSyncing) return kSyncInterval;
  if (status.phase == phase::kSyncFailed) {
    if (status.sync) return kFailedPartInterval;  // each part has its own delay
    return retry_delay(status.jobs ? status.jobs->sync : "");
  }
  const auto* warmed = api::find_condition(status.conditions, condition_type::kWarmed);
  if (warmed && warmed->reason == reason::kWarmingUp) return kWarmUpInterval;
  return kPollInterval;
}

// Runtimes are polled at their own pace, whatever else the set waits for (timing.h).
seconds requeue_interval(const api::SampleSetStatus& status, const World& world,
                         const EngineSelection& selection, WallTime now) {
  const seconds retry = retry_interval(status, world, selection, now);
  // A pause after a failure must not hide that the Secret was corrected.
  if (!world.runtimes) return std::min(retry, kBlockedInterval);
  const bool silent = std::ranges::any_of(world.runtime_reports, [](const RuntimeReport& report) {
    return !report.status.has_value();
  });
  return std::min(retry, silent ? kPollSilent : kPollInterval);
}

}  // namespace

Plan desired(const api::SampleSet& set, const World& world, const Config& config, WallTime now) {
  Plan plan;
  const auto& finalizers = set.meta.finalizers;
  if (std::ranges::find(finalizers, engine::finalizer_of(set)) != finalizers.end()) {
    plan.add(RemoveFinalizer{});
  }
  if (set.meta.deleting()) return plan;  // a finalizer of another program delays it
  const EngineSelection selection = select_engine(set, world, config);
  const api::SampleSetStatus status = next_status(set, world, selection, now);
  plan.requeue_after = requeue_interval(status, world, selection, now);
  emit_status_events(set, world, status, selection, plan);
  clean_claim(set, world, plan);
  if (!selection.blocked.blocks()) {
    update_credentials(world, selection, plan);
    create_missing(set, world, selection, plan);
    rebind_volume(set, world, plan);
    prepare_volume(world, selection.manifests, now, plan);
    update_policy(set, world, selection.manifests, plan);
    update_runtimes(set, world, selection.manifests, plan);
  }
  // Runtimes that exist are maintained whatever blocks changes of the other objects.
  const bool runs = world.runtimes && engine::belongs_to(world.runtimes->meta, set);
  if (selection.builder && (runs || !selection.blocked.blocks())) {
    const bool shares_volume = selection.builder->shares_volume();
    const auto may_sync = up_to_date_runtimes(set, world, selection.manifests);
    renew_token(set, world, now, plan);
    annotate_secret_versions(set, world, now, plan);
    replace_lost_runtimes(set, world, now, plan);
    label_nodes(set, world, selection.engine, plan);
    keep_for_users(set, world, plan);
    put_first_sync_parts(set, world, may_sync, status, plan);
    put_jobs(set, world, shares_volume, may_sync, status, plan);
  }
  if (status == set.status) return plan;
  plan.status = status;
  // An event about a change must not be emitted again: the change is stored with it.
  if (!plan.has_events()) {
    plan.status_delay = status_delay(set.status, status, world.since_status_write);
  }
  return plan;
}

}  // namespace paddle::controllers::sample_set
