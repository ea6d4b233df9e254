// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/engine_selection.h"

#include "controllers/sample_set/decide/automatic_jobs.h"
#include "controllers/sample_set/decide/engine_choice.h"
#include "controllers/sample_set/decide/object_updates.h"
#include "controllers/sample_set/decide/runtime_liveness.h"

namespace paddle::controllers::sample_set {
namespace {

Blocker missing(const std::string& secret, const api::SampleSet& set) {
  return {"ErrorSecretNotExist",
          "the secret " + secret + " is not there; create it in the namespace " + set.meta.key.ns};
}

// The set's own secret is needed until there is a copy; a runtime that has started has its own.
Blocker secrets_blocker(const api::SampleSet& set, const World& world) {
  const auto* engine_secret = credentials_of(set);
  const auto* source_secret =
      set.spec.source && set.spec.source->secret ? &*set.spec.source->secret : nullptr;
  for (const auto* ref : {engine_secret, source_secret}) {
    if (!ref || ref->ns.empty() || ref->ns == set.meta.key.ns) continue;
    return {"SecretElsewhere", "the secret " + ref->name + " is in another namespace, " + ref->ns +
                                   "; create it in " + set.meta.key.ns};
  }
  const bool served = synced(set.status) && !set.status.engine.empty();
  if (world.secret && !world.secret->exists && !served) return missing(engine_secret->name, set);
  if (source_secret && world.source_secret_missing && !served) {
    return missing(source_secret->name, set);
  }
  return {};
}

}  // namespace

EngineSelection select_engine(const api::SampleSet& set, const World& world, const Config& config) {
  if (auto blocked = secrets_blocker(set, world); !blocked.reason.empty()) {
    return {.engine = set.status.engine,
            .builder = find_engine(config.engines, set.status.engine),
            .blocked = std::move(blocked)};
  }
  const auto name = choose_engine(set, world.secret);
  if (!name) return {.blocked = {"EngineUnclear", name.error().message}};
  const auto* builder = find_engine(config.engines, *name);
  if (!builder) {
    return {.blocked = {"ErrorDriverNotExist", "this operator has no engine " + *name +
                                                   "; set spec.csi.driver to samplefs"}};
  }
  engine::RuntimeOptions options = config.runtime;
  if (const auto image = config.images.find(*name); image != config.images.end()) {
    options.image = image->second;
  }
  auto manifests =
      builder->manifests(set, world.secret ? world.secret->values : engine::Credentials{}, options);
  if (!manifests) {
    return {
        .engine = *name, .builder = builder, .blocked = {kSpecRefused, manifests.error().message}};
  }
  EngineSelection selection{
      .engine = *name, .builder = builder, .manifests = *std::move(manifests)};
  if (config.drivers_of_nodes.contains(selection.manifests.csi_driver)) {
    selection.manifests.csi_driver.clear();
  }
  if (const auto stranger = find_name_conflict(set, world)) {
    selection.blocked = {"NameTaken",
                         "a " + stranger->event + " named " + stranger->name +
                             " is there already and belongs to somebody else; remove it or rename "
                             "the set",
                         "Error" + stranger->event + "AlreadyExist"};
  } else if (world.rejected_creation) {
    selection.blocked = {world.rejected_creation->reason, world.rejected_creation->message};
  }
  return selection;
}

std::optional<std::string> missing_driver(const api::SampleSet& set, const World& world,
                                          const std::string& driver) {
  if (driver.empty() || !world.drivers) return std::nullopt;
  if (!world.drivers->installed.contains(driver)) return "";
  for (const api::Pod* pod : runtime_pods(set, world)) {
    if (!pod || pod->node.empty() || pod->phase == api::PodPhase::kRunning) continue;
    const auto node = world.drivers->on_node.find(pod->node);
    if (node == world.drivers->on_node.end() || !node->second.contains(driver)) return pod->node;
  }
  return std::nullopt;
}

}  // namespace paddle::controllers::sample_set
