// SPDX-License-Identifier: Apache-2.0
//
// The conditions of a SampleSet, each with a reason and one sentence. Pure.
//
//   Bound             volume and claim have found each other
//   RuntimeReady      every runtime runs and answers
//   Synced            the list of samples is published; stays True
//   Warmed            every sample is in the cache: Unknown while a warm-up goes on, False with
//                     what is missing. It follows the cache's statistics, so that it also becomes
//                     False when the cache was cleared
//   Degraded          a runtime is away or has no node: reading works without it, slower; or the
//                     set serves, but something of it can not be kept up. The message has it all
//   SamplesLeftOut    only there as True: the source has objects that cannot be files of the set
//   CSIDriverMissing  only of engines whose volumes a CSI driver mounts
//   Ready             all of them in one: what is being waited for

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/sample_set.h"
#include "base/clock.h"
#include "controllers/sample_set/blockers.h"
#include "controllers/sample_set/jobs.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_sets {

inline constexpr const char* kActionRefused = "ActionRefused";
// What was refused of what is done to objects that are there, each as Degraded says it.
std::vector<std::string> refusals_to_say(const World& world);

api::Condition bound_condition(const api::SampleSet& set, const World& world);
api::Condition runtime_condition(const api::SampleSet& set, const World& world);
api::Condition synced_condition(const api::SampleSet& set, const SyncSeen& sync);
// `status` is the one to come.
api::Condition warmed_condition(const api::SampleSet& set, const World& world,
                                const api::SampleSetStatus& status);
// `blocker`: what stands in the way of changes; a set that serves goes on. Its reason is NoNode
// when any partition has none, whatever else is amiss, for that releases workers.
api::Condition degraded_condition(const api::SampleSet& set, const World& world,
                                  const Blocker& blocker);
api::Condition driver_condition(const api::SampleSet& set, const World& world,
                                const engine::Manifests& manifests);
inline constexpr const char* kLeftOut = "SamplesLeftOut";
// Only while it is so. `status` is the one to come.
std::optional<api::Condition> left_out_condition(const api::SampleSet& set,
                                                 const api::SampleSetStatus& status);
// Only while it is so.
std::optional<api::Condition> shared_condition(const api::SampleSet& set, const World& world);
// Reads the others in `status`.
api::Condition ready_condition(const api::SampleSet& set, const World& world, const Choice& choice,
                               const SyncSeen& sync, const api::SampleSetStatus& status);

}  // namespace paddle::controllers::sample_sets
