// SPDX-License-Identifier: Apache-2.0
//
// The conditions of a SampleSet, each with a reason (decide/reasons.h) and one sentence. Pure.
//
//   Bound             volume and claim are bound to each other
//   RuntimeReady      every runtime runs and answers
//   Synced            the list of samples is published; stays True
//   Warmed            every sample is cached: Unknown while a warm-up runs, False with what is
//                     missing. Computed from the cache statistics, so it shows a cleared cache too
//   Degraded          a runtime is away or cannot be scheduled, so reads are slower; or the set
//                     serves, but a change cannot be applied. The message lists all problems
//   SamplesLeftOut    only present as True: the source has objects that cannot be files of the set
//   CSIDriverMissing  only for engines whose volumes a CSI driver mounts
//   VolumeShared      only present as True: another set syncs into the same directory
//   Ready             the summary: what the set waits for

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/sample_set.h"
#include "controllers/plan/plan.h"
#include "controllers/sample_set/decide/automatic_jobs.h"
#include "controllers/sample_set/decide/engine_selection.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_set {

// The rejected writes to objects that exist, each as a sentence of Degraded.
std::vector<std::string> rejection_messages(const World& world);

api::Condition bound_condition(const api::SampleSet& set, const World& world);
api::Condition runtime_condition(const api::SampleSet& set, const World& world);
api::Condition synced_condition(const api::SampleSet& set, const JobProgress& sync);
// `status` is the next one.
api::Condition warmed_condition(const api::SampleSet& set, const World& world,
                                const api::SampleSetStatus& status);
// `blocked`: what blocks changes while the set serves. The reason is NoNode when any partition has
// no node, whatever other problems there are, because that releases workers.
api::Condition degraded_condition(const api::SampleSet& set, const World& world,
                                  const BlockReason& blocked);
api::Condition driver_condition(const api::SampleSet& set, const World& world,
                                const engine::Manifests& manifests);
// `status` is the next one.
std::optional<api::Condition> samples_left_out_condition(const api::SampleSet& set,
                                                         const api::SampleSetStatus& status);
std::optional<api::Condition> volume_shared_condition(const api::SampleSet& set,
                                                      const World& world);
// `status` is the next one, with all other conditions.
api::Condition ready_condition(const api::SampleSet& set, const World& world,
                               const EngineSelection& selection, const JobProgress& sync,
                               const api::SampleSetStatus& status);

}  // namespace paddle::controllers::sample_set
