// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/plan.h"

#include <algorithm>

#include "controllers/sample_set/blockers.h"
#include "controllers/sample_set/children.h"
#include "controllers/sample_set/deletion.h"
#include "controllers/sample_set/first_sync.h"
#include "controllers/sample_set/fresh_keys.h"
#include "controllers/sample_set/jobs.h"
#include "controllers/sample_set/news.h"
#include "controllers/sample_set/preparation.h"
#include "controllers/sample_set/seats.h"
#include "controllers/sample_set/status.h"
#include "engine/names.h"

namespace paddle::controllers::sample_sets {
namespace {

using std::chrono::seconds;

constexpr seconds kAskAll{5};
constexpr seconds kAskQuiet{2};

// Changes wake us; these are the times for what nobody tells of.
seconds retry_after(const api::SampleSetStatus& status, const World& world, const Choice& choice,
                    WallTime now) {
  if (!choice.blocker.reason.empty()) return seconds(10);
  if (const auto again = preparation_again(world, now)) return *again;
  if (status.phase == "Mount" || status.phase == "Syncing") return seconds(1);
  if (status.phase == "SyncFailed" && status.sync) return seconds(5);  // parts have their own times
  if (status.phase == "SyncFailed") return retry_delay(status.jobs ? status.jobs->sync : "");
  const auto* warmed = api::find_condition(status.conditions, "Warmed");
  if (warmed && warmed->reason == "WarmingUp") return seconds(2);
  return kAskAll;
}

// A runtime that falls silent is to be noticed within 15 s, whatever else is waited for, so it is
// asked often; its figures come along.
seconds visit_after(const api::SampleSetStatus& status, const World& world, const Choice& choice,
                    WallTime now) {
  const seconds retry = retry_after(status, world, choice, now);
  if (!world.runtimes) return retry;
  const bool quiet = std::ranges::any_of(
      world.answers, [](const RuntimeSeen& answer) { return !answer.status.has_value(); });
  return std::min(retry, quiet ? kAskQuiet : kAskAll);
}

}  // namespace

Plan desired(const api::SampleSet& set, const World& world, const Setting& setting, WallTime now) {
  Plan plan;
  const auto& finalizers = set.meta.finalizers;
  if (std::ranges::find(finalizers, engine::finalizer_of(set)) != finalizers.end()) {
    plan.actions.emplace_back(DropFinalizer{});
  }
  if (set.meta.deleting()) return plan;  // somebody else's finalizer holds it
  const Choice choice = choose(set, world, setting);
  const api::SampleSetStatus status = observe(set, world, choice, now);
  plan.requeue_after = visit_after(status, world, choice, now);
  tell_news(set, world, status, choice, plan);
  if (choice.blocker.reason.empty()) {
    update_credentials(world, choice, plan);
    create_missing(set, world, choice, plan);
    free_volume(set, world, plan);
    prepare(world, choice.manifests, now, plan);
    update_policy(set, world, choice.manifests, plan);
    update_runtimes(set, world, choice.manifests, plan);
  }
  // Whatever stands in the way of other objects, those that run are looked after.
  const bool runs = world.runtimes && engine::belongs_to(world.runtimes->meta, set);
  if (choice.face && (runs || choice.blocker.reason.empty())) {
    const bool shares_volume = choice.face->shares_volume();
    const auto may_sync = made_anew(set, world, choice.manifests);
    renew_token(set, world, now, plan);
    tell_of_keys(set, world, now, plan);
    give_up_lost(set, world, now, plan);
    label_nodes(set, world, choice.engine, plan);
    keep_for_users(set, world, plan);
    put_parts(set, world, may_sync, status, plan);
    put_jobs(set, world, shares_volume, may_sync, status, plan);
  }
  // Last: a figure that is written is one that the actions before it have made true.
  if (status != set.status) plan.actions.emplace_back(SetStatus{status});
  return plan;
}

}  // namespace paddle::controllers::sample_sets
