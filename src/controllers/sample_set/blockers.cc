// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/blockers.h"

#include "controllers/sample_set/children.h"
#include "controllers/sample_set/engine_choice.h"
#include "controllers/sample_set/jobs.h"
#include "controllers/sample_set/seats.h"

namespace paddle::controllers::sample_sets {
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

Choice choose(const api::SampleSet& set, const World& world, const Setting& setting) {
  if (auto blocker = secrets_blocker(set, world); !blocker.reason.empty()) {
    return {.engine = set.status.engine,
            .face = find_engine(setting.engines, set.status.engine),
            .blocker = std::move(blocker)};
  }
  const auto name = choose_engine(set, world.secret);
  if (!name) return {.blocker = {"EngineUnclear", name.error().message}};
  const auto* face = find_engine(setting.engines, *name);
  if (!face) {
    return {.blocker = {"ErrorDriverNotExist", "this operator has no engine " + *name +
                                                   "; set spec.csi.driver to samplefs"}};
  }
  engine::RuntimeOptions options = setting.runtime;
  if (const auto image = setting.images.find(*name); image != setting.images.end()) {
    options.image = image->second;
  }
  auto manifests =
      face->manifests(set, world.secret ? world.secret->values : engine::Credentials{}, options);
  if (!manifests) {
    return {.engine = *name, .face = face, .blocker = {kSpecRefused, manifests.error().message}};
  }
  Choice choice{.engine = *name, .face = face, .manifests = *std::move(manifests)};
  if (setting.drivers_of_nodes.contains(choice.manifests.csi_driver)) {
    choice.manifests.csi_driver.clear();
  }
  if (const auto stranger = stranger_among(set, world)) {
    choice.blocker = {"NameTaken",
                      "a " + stranger->event + " named " + stranger->name +
                          " is there already and belongs to somebody else; remove it or rename "
                          "the set",
                      "Error" + stranger->event + "AlreadyExist"};
  } else if (world.refusal) {
    choice.blocker = {world.refusal->reason, world.refusal->message};
  }
  return choice;
}

std::optional<std::string> lacks_driver(const api::SampleSet& set, const World& world,
                                        const std::string& driver) {
  if (driver.empty() || !world.drivers) return std::nullopt;
  if (!world.drivers->installed.contains(driver)) return "";
  for (const api::Pod* pod : seats(set, world)) {
    if (!pod || pod->node.empty() || pod->phase == api::PodPhase::kRunning) continue;
    const auto node = world.drivers->on_node.find(pod->node);
    if (node == world.drivers->on_node.end() || !node->second.contains(driver)) return pod->node;
  }
  return std::nullopt;
}

}  // namespace paddle::controllers::sample_sets
