// SPDX-License-Identifier: Apache-2.0
//
// Which events a change of the status is worth, each once. Pure. What becomes of objects that are
// made or deleted is told where that is done.

#pragma once

#include "api/sample_set.h"
#include "controllers/sample_set/actions.h"
#include "controllers/sample_set/decide/engine_selection.h"

namespace paddle::controllers::sample_set {

void emit_status_events(const api::SampleSet& set, const World& world,
                        const api::SampleSetStatus& next, const EngineSelection& selection,
                        Plan& plan);

}  // namespace paddle::controllers::sample_set
