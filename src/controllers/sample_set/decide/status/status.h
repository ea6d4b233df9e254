// SPDX-License-Identifier: Apache-2.0
//
// What a SampleSet's status says: phase, figures, partitions, jobs and conditions, from what is
// seen now and what it said before. Pure.

#pragma once

#include "api/sample_set.h"
#include "base/clock.h"
#include "controllers/sample_set/decide/engine_selection.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_set {

api::SampleSetStatus observe(const api::SampleSet& set, const World& world,
                             const EngineSelection& selection, WallTime now);

}  // namespace paddle::controllers::sample_set
