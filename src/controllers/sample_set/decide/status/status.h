// SPDX-License-Identifier: Apache-2.0
//
// The next status of a SampleSet: phase, cache statistics, partitions, ids of jobs and conditions,
// from what was observed and from the stored status. Pure.

#pragma once

#include "api/sample_set.h"
#include "base/clock.h"
#include "controllers/sample_set/decide/engine_selection.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_set {

api::SampleSetStatus next_status(const api::SampleSet& set, const World& world,
                                 const EngineSelection& selection, WallTime now);

}  // namespace paddle::controllers::sample_set
