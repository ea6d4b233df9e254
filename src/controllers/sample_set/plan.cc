// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/plan.h"

#include <algorithm>

#include "controllers/sample_set/decide/automatic_jobs.h"
#include "controllers/sample_set/decide/credential_rollout.h"
#include "controllers/sample_set/decide/deletion.h"
#include "controllers/sample_set/decide/engine_selection.h"
#include "controllers/sample_set/decide/first_sync.h"
#include "controllers/sample_set/decide/object_updates.h"
#include "controllers/sample_set/decide/runtime_liveness.h"
#include "controllers/sample_set/decide/status/status.h"
#include "controllers/sample_set/decide/status/status_events.h"
#include "controllers/sample_set/decide/volume_preparation.h"
#include "engine/names.h"

namespace paddle::controllers::sample_set {
namespace {

using std::chrono::seconds;

constexpr seconds kAskAll{5};
constexpr seconds kAskQuiet{2};

// Changes wake us; these are the times for what nobody tells of.
seconds retry_after(const api::SampleSetStatus& status, const World& world,
                    const EngineSelection& selection, WallTime now) {
  if (!selection.blocked.reason.empty()) return seconds(10);
  if (const auto again = preparation_retry(world, now)) return *again;
  if (status.phase == "Mount" || status.phase == "Syncing") return seconds(1);
  if (status.phase == "SyncFailed" && status.sync) return seconds(5);  // parts have their own times
  if (status.phase == "SyncFailed") return retry_delay(status.jobs ? status.jobs->sync : "");
  const auto* warmed = api::find_condition(status.conditions, "Warmed");
  if (warmed && warmed->reason == "WarmingUp") return seconds(2);
  return kAskAll;
}

// A runtime that falls silent is to be noticed within 15 s, whatever else is waited for, so it is
// asked often; its figures come along.
seconds visit_after(const api::SampleSetStatus& status, const World& world,
                    const EngineSelection& selection, WallTime now) {
  const seconds retry = retry_after(status, world, selection, now);
  if (!world.runtimes) return retry;
  const bool quiet = std::ranges::any_of(world.runtime_reports, [](const RuntimeReport& answer) {
    return !answer.status.has_value();
  });
  return std::min(retry, quiet ? kAskQuiet : kAskAll);
}

}  // namespace

Plan desired(const api::SampleSet& set, const World& world, const Config& config, WallTime now) {
  Plan plan;
  const auto& finalizers = set.meta.finalizers;
  if (std::ranges::find(finalizers, engine::finalizer_of(set)) != finalizers.end()) {
    plan.actions.emplace_back(RemoveFinalizer{});
  }
  if (set.meta.deleting()) return plan;  // somebody else's finalizer holds it
  const EngineSelection selection = select_engine(set, world, config);
  const api::SampleSetStatus status = observe(set, world, selection, now);
  plan.requeue_after = visit_after(status, world, selection, now);
  emit_status_events(set, world, status, selection, plan);
  if (selection.blocked.reason.empty()) {
    update_credentials(world, selection, plan);
    create_missing(set, world, selection, plan);
    free_volume(set, world, plan);
    prepare_volume(world, selection.manifests, now, plan);
    update_policy(set, world, selection.manifests, plan);
    update_runtimes(set, world, selection.manifests, plan);
  }
  // Whatever stands in the way of other objects, those that run are looked after.
  const bool runs = world.runtimes && engine::belongs_to(world.runtimes->meta, set);
  if (selection.builder && (runs || selection.blocked.reason.empty())) {
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
  // Last: a figure that is written is one that the actions before it have made true.
  if (status != set.status) plan.actions.emplace_back(SetStatus{status});
  return plan;
}

}  // namespace paddle::controllers::sample_set
