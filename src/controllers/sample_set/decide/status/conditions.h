// SPDX-License-Identifier: Apache-2.0
//
// The conditions of a SampleSet, each with a reason and one sentence. Pure.
//
//   Bound             volume and claim have found each other
//   RuntimeReady      every runtime runs and answers
//   Synced            the list of samples is published; stays True
//   Warmed            every sample is in the cache: Unknown while a warm-up goes on, False with
//   what
//                     is missing. Follows the figures, so it also tells of a cache that was cleared
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
#include "controllers/sample_set/decide/automatic_jobs.h"
#include "controllers/sample_set/decide/engine_selection.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_set {

inline constexpr const char* kActionRefused = "ActionRefused";
// What was refused of what is done to objects that are there, each as Degraded says it.
std::vector<std::string> rejection_messages(const World& world);

api::Condition bound_condition(const api::SampleSet& set, const World& world);
api::Condition runtime_condition(const api::SampleSet& set, const World& world);
api::Condition synced_condition(const api::SampleSet& set, const SyncProgress& sync);
// `status` is the one to come.
api::Condition warmed_condition(const api::SampleSet& set, const World& world,
                                const api::SampleSetStatus& status);
// `blocked`: what stands in the way of changes; a set that serves goes on. Its reason is NoNode
// when any partition has none, whatever else is amiss, for that releases workers.
api::Condition degraded_condition(const api::SampleSet& set, const World& world,
                                  const Blocker& blocked);
api::Condition driver_condition(const api::SampleSet& set, const World& world,
                                const engine::Manifests& manifests);
inline constexpr const char* kLeftOut = "SamplesLeftOut";
// Only while it is so. `status` is the one to come.
std::optional<api::Condition> samples_left_out_condition(const api::SampleSet& set,
                                                         const api::SampleSetStatus& status);
// Only while it is so.
std::optional<api::Condition> volume_shared_condition(const api::SampleSet& set,
                                                      const World& world);
// Reads the others in `status`.
api::Condition ready_condition(const api::SampleSet& set, const World& world,
                               const EngineSelection& selection, const SyncProgress& sync,
                               const api::SampleSetStatus& status);

}  // namespace paddle::controllers::sample_set
