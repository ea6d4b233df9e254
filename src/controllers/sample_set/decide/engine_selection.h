// SPDX-License-Identifier: Apache-2.0
//
// The engine of a SampleSet and the objects that the set needs with it, or what blocks the set.
// The engine is spec.csi.driver; without it juicefs when the Secret has a metaurl and this program
// has that engine, else samplefs. It is selected once: the status keeps it. Pure.

#pragma once

#include <optional>
#include <string>

#include "api/sample_set.h"
#include "controllers/plan/plan.h"
#include "controllers/sample_set/config.h"
#include "controllers/sample_set/world.h"
#include "engine/manifests.h"

namespace paddle::controllers::sample_set {

// Once an engine is selected, `engine` and `builder` are set whatever blocks the set.
struct EngineSelection {
  std::string engine{};
  const engine::ManifestBuilder* builder = nullptr;  // borrowed from the Config
  engine::Manifests manifests{};
  std::string namespace_cache{};  // cache_limit.h; empty: there is no limit
  BlockReason blocked{};
  std::string event{};   // reason of the event about `blocked`; empty: blocked.reason
  std::string unused{};  // a sentence when the engine does not use what the Secret has for another
};

EngineSelection select_engine(const api::SampleSet& set, const World& world, const Config& config);

// Null when this program has no such engine.
const engine::ManifestBuilder* find_builder(const engine::ManifestBuilders& builders,
                                            const std::string& engine);

// The Secret with credentials that the spec names, or null.
const api::SecretReference* credentials_reference(const api::SampleSet& set);

// Where the CSI driver is missing: the name of a node, or "" for the cluster; absent when it is
// there, or not known yet.
std::optional<std::string> missing_driver(const api::SampleSet& set, const World& world,
                                          const std::string& driver);

}  // namespace paddle::controllers::sample_set
