// SPDX-License-Identifier: Apache-2.0
//
// Which of a SampleSet's objects are missing, foreign or out of date. Pure.

#pragma once

#include <optional>
#include <set>
#include <string>

#include "controllers/sample_set/decide/engine_selection.h"
#include "controllers/sample_set/plan.h"

namespace paddle::controllers::sample_set {

// An object of somebody else's that has one of our names: "PVC imagenet"; nothing when there is
// none. `event` is the contract's name of the kind: PV, PVC, Service, StatefulSet, Secret.
struct NameConflict {
  std::string event{};
  std::string name{};
};
std::optional<NameConflict> find_name_conflict(const api::SampleSet& set, const World& world);

// Everything that is missing, all at once, volume before claim. The runtimes wait until their
// volume is prepared (preparation.h) and the cluster has the driver that mounts it.
void create_missing(const api::SampleSet& set, const World& world, const EngineSelection& selection,
                    Plan& plan);

// A claim that was made again gets the volume of the one before, which kept it for that one.
void free_volume(const api::SampleSet& set, const World& world, Plan& plan);

// The copy of the user's credentials is as the user's Secret is now.
void update_credentials(const World& world, const EngineSelection& selection, Plan& plan);

// Tokens and certificates are renewed in the second half of their life.
void renew_token(const api::SampleSet& set, const World& world, WallTime now, Plan& plan);

// The NetworkPolicy is as it would be made now.
void update_policy(const api::SampleSet& set, const World& world,
                   const engine::Manifests& manifests, Plan& plan);

// Number and template of the runtimes. Pods of an older template are replaced one at a time, those
// that serve last, and only while no other is on its way; one that no node takes holds up nobody.
// Before the first sync has ended nobody reads: all at once.
void update_runtimes(const api::SampleSet& set, const World& world,
                     const engine::Manifests& manifests, Plan& plan);

// The StatefulSet as it is to be created: with the mark of its template on it and on its pods.
api::Json with_template_hash(const api::Json& stateful_set);
// Of the partitions' pods, those that were made from the present template. What the source is
// stands in it: no other runtime is asked for the first sync.
std::set<int> up_to_date_runtimes(const api::SampleSet& set, const World& world,
                                  const engine::Manifests& manifests);
inline constexpr const char* kTemplateAnnotation = "batch.paddlepaddle.org/template";
// On the NetworkPolicy: what it was made from.
inline constexpr const char* kSpecHash = "batch.paddlepaddle.org/made-from";
// On the copy: "<uid>/<resourceVersion>" of the Secret that it is a copy of.
inline constexpr const char* kCopiedFrom = "batch.paddlepaddle.org/copied-from";
// On the Secret with token and certificates: when to make others.
inline constexpr const char* kRenewAfter = "batch.paddlepaddle.org/renew-after";

std::string kind_name(OwnedKind kind);
// What a Secret holds, all of it as `data`.
api::Json data_of(const api::Json& secret);

}  // namespace paddle::controllers::sample_set
