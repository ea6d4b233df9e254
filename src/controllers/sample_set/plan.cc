// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/plan.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "controllers/sample_set/children.h"
#include "controllers/sample_set/deletion.h"
#include "controllers/sample_set/engine_choice.h"
#include "controllers/sample_set/progress.h"
#include "engine/names.h"

namespace paddle::controllers::sample_sets {
namespace {

using std::chrono::seconds;

// The engine and its objects, or what stands in the way.
struct Choice {
  std::string engine{};
  engine::Manifests manifests{};
  Blocker blocker{};
};

Choice choose(const api::SampleSet& set, const World& world, const Setting& setting) {
  for (const auto* ref :
       {credentials_of(set),
        set.spec.source && set.spec.source->secret ? &*set.spec.source->secret : nullptr}) {
    if (!ref) continue;
    if (!ref->ns.empty() && ref->ns != set.meta.key.ns) {
      return {.blocker = {"SecretElsewhere", "the secret " + ref->name +
                                                 " is in another namespace, " + ref->ns +
                                                 "; create it in " + set.meta.key.ns}};
    }
  }
  if (world.secret && !world.secret->exists) {
    return {.blocker = {"ErrorSecretNotExist", "the secret " + credentials_of(set)->name +
                                                   " is not there; create it in the namespace " +
                                                   set.meta.key.ns}};
  }
  const auto name = choose_engine(set, world.secret);
  if (!name) return {.blocker = {"EngineUnclear", name.error().message}};
  const auto* face = find_engine(setting.engines, *name);
  if (!face) {
    return {.blocker = {"ErrorDriverNotExist", "this operator has no engine " + *name +
                                                   "; set spec.csi.driver to samplefs"}};
  }
  auto manifests = face->manifests(set, {}, setting.runtime);
  if (!manifests) return {.engine = *name, .blocker = {"SpecRefused", manifests.error().message}};
  return {.engine = *name, .manifests = *std::move(manifests)};
}

// Each runtime gets the jobs whose ids are stored and that it does not know.
void ask_runtimes(const api::SampleSet& set, const World& world, Plan& plan) {
  if (!set.status.jobs) return;
  const auto& jobs = *set.status.jobs;
  for (const RuntimeSeen& answer : world.answers) {
    if (!answer.status) continue;  // could not be asked: neither can it be told
    const bool must_sync = !synced(set.status) || !answer.status->index;
    if (!jobs.sync.empty() && !answer.sync && must_sync) {
      plan.actions.emplace_back(
          PutJob{answer.partition, jobs.sync, {.kind = runtime::JobKind::kSync}});
    }
    const bool may_warm = !jobs.warmup.empty() && !answer.warmup && answer.status->index;
    if (may_warm) {
      plan.actions.emplace_back(PutJob{answer.partition,
                                       jobs.warmup,
                                       {.kind = runtime::JobKind::kWarmup,
                                        .which = {.partition = answer.partition,
                                                  .partitions = set.spec.effective_partitions()}}});
    }
  }
}

void label_nodes(const api::SampleSet& set, const World& world, const std::string& engine,
                 Plan& plan) {
  std::map<std::string, std::string> wanted;  // node -> runtime pod
  for (const api::Pod* pod : seats(set, world)) {
    if (pod && !pod->node.empty() && pod->phase == api::PodPhase::kRunning) {
      wanted[pod->node] = pod->meta.key.name;
    }
  }
  std::vector<std::string> labels{engine::node_label(set)};
  if (!world.has_namesake) labels.push_back(engine::cache_label(set, engine));
  for (const auto& [node, pod] : wanted) {
    const auto there = world.nodes.find(node);
    for (const auto& label : labels) {
      if (there != world.nodes.end()) {
        const auto value = there->second.find(label);
        if (value != there->second.end() && value->second == pod) continue;
      }
      plan.actions.emplace_back(LabelNode{node, label, pod});
    }
  }
  for (const auto& [node, found] : world.nodes) {
    if (wanted.contains(node)) continue;
    for (const auto& label : labels) {
      if (found.contains(label)) plan.actions.emplace_back(LabelNode{node, label, ""});
    }
  }
}

void tell_changes(const api::SampleSet& set, const api::SampleSetStatus& next, Plan& plan) {
  const auto* before = api::find_condition(set.status.conditions, "Ready");
  const auto* after = api::find_condition(next.conditions, "Ready");
  const bool blocked = after && (!before || before->reason != after->reason);
  static constexpr const char* kTold[] = {"ErrorSecretNotExist", "ErrorDriverNotExist",
                                          "SecretElsewhere",     "SpecRefused",
                                          "EngineUnclear",       "NameTaken"};
  if (blocked && std::ranges::find(kTold, after->reason) != std::end(kTold)) {
    plan.actions.emplace_back(Tell{true, after->reason, after->message});
  }
  if (next.phase == set.status.phase) return;
  if (next.phase == "SyncFailed" && after) {
    plan.actions.emplace_back(Tell{true, "ErrorDoSyncJob", after->message});
  }
  if (synced(next) && !synced(set.status)) {
    plan.actions.emplace_back(Tell{false, "DoSyncJobSuccessfully", "the samples are listed"});
  }
  if (next.phase == "Ready") {
    plan.actions.emplace_back(Tell{false, "Ready", "every runtime serves the samples"});
  }
}

seconds visit_after(const api::SampleSetStatus& status, const Blocker& blocker, bool in_use) {
  if (!blocker.reason.empty()) return seconds(10);
  if (status.phase == "Mount" || status.phase == "Syncing") return seconds(1);
  if (status.phase == "SyncFailed") return retry_delay(status.jobs ? status.jobs->sync : "");
  const auto* warm = api::find_condition(status.conditions, "Warm");
  if (status.phase == "Ready" && status.jobs && !status.jobs->warmup.empty() &&
      (!warm || warm->reason == "WarmingUp")) {
    return seconds(2);
  }
  return status.phase == "PartialReady" || in_use ? seconds(5) : seconds(30);
}

}  // namespace

Plan desired(const api::SampleSet& set, const World& world, const Setting& setting, WallTime now) {
  Plan plan;
  const auto& finalizers = set.meta.finalizers;
  if (std::ranges::find(finalizers, engine::finalizer_of(set)) != finalizers.end()) {
    plan.actions.emplace_back(DropFinalizer{});
  }
  if (set.meta.deleting()) return plan;  // somebody else's finalizer holds it
  Choice choice = choose(set, world, setting);
  if (choice.blocker.reason.empty()) {
    if (const auto stranger = stranger_among(set, world)) {
      choice.blocker = {"NameTaken", "a " + stranger->event + " named " + stranger->name +
                                         " is there already and belongs to somebody else; remove "
                                         "it or rename the set"};
    }
  }
  const api::SampleSetStatus status = observe(set, world, choice.engine, choice.blocker, now);
  plan.again_after = visit_after(status, choice.blocker, !world.users.empty());
  tell_changes(set, status, plan);
  if (choice.blocker.reason.empty()) {
    create_missing(set, world, choice.engine, choice.manifests, plan);
    update_runtimes(set, world, choice.manifests, plan);
    keep_for_users(set, world, plan);
    ask_runtimes(set, world, plan);
    label_nodes(set, world, choice.engine, plan);
  }
  // Last: a figure that is written is one that the actions before it have made true.
  if (status != set.status) plan.actions.emplace_back(SetStatus{status});
  return plan;
}

}  // namespace paddle::controllers::sample_sets
