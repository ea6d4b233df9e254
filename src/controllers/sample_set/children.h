// SPDX-License-Identifier: Apache-2.0
//
// Which of a SampleSet's objects are missing, foreign or out of date. Pure.

#pragma once

#include <optional>
#include <string>

#include "controllers/sample_set/plan.h"

namespace paddle::controllers::sample_sets {

// An object of somebody else's that has one of our names: "PVC imagenet"; nothing when there is
// none. `event` is the contract's name of the kind: PV, PVC, Service, StatefulSet, Secret.
struct Stranger {
  std::string event{};
  std::string name{};
};
std::optional<Stranger> stranger_among(const api::SampleSet& set, const World& world);

// Everything that is missing, all at once, volume before claim, claim before runtimes.
void create_missing(const api::SampleSet& set, const World& world, const std::string& engine,
                    const engine::Manifests& manifests, Plan& plan);

// Number and template of the runtimes; pods of an older template one at a time.
void update_runtimes(const api::SampleSet& set, const World& world,
                     const engine::Manifests& manifests, Plan& plan);

// The StatefulSet as it is to be created: with the mark of its template on it and on its pods.
api::Json marked(const api::Json& stateful_set);
inline constexpr const char* kTemplateAnnotation = "batch.paddlepaddle.org/template";

std::string event_name(ChildKind kind);

}  // namespace paddle::controllers::sample_sets
