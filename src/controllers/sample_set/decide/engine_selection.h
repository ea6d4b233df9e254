// SPDX-License-Identifier: Apache-2.0
//
// The engine of a set and its objects, or what stands in the way of them. Pure.

#pragma once

#include <string>

#include "api/sample_set.h"
#include "controllers/sample_set/plan.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_set {

// Why nothing moves; an empty reason means that nothing holds the set up.
inline constexpr const char* kSpecRefused = "SpecRefused";  // the engine can not do it
struct Blocker {
  std::string reason{};   // CamelCase, for the condition
  std::string message{};  // one sentence with the next step
  std::string event{};    // the event's reason; empty: as the condition's
};

// Of a set whose engine has been decided engine and builder are known, whatever stands in the way.
struct EngineSelection {
  std::string engine{};
  const engine::ManifestBuilder* builder = nullptr;
  engine::Manifests manifests{};
  Blocker blocked{};
};

EngineSelection select_engine(const api::SampleSet& set, const World& world, const Config& config);

// Which nodes lack the CSI driver: nothing when all is well or not known; "" for the cluster.
std::optional<std::string> missing_driver(const api::SampleSet& set, const World& world,
                                          const std::string& driver);

}  // namespace paddle::controllers::sample_set
