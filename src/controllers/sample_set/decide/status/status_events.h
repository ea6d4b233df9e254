// SPDX-License-Identifier: Apache-2.0
//
// The events about a change of the status, each once. Events about objects that are created or
// deleted are emitted by the executor. Pure.

#pragma once

#include "api/sample_set.h"
#include "controllers/sample_set/actions.h"
#include "controllers/sample_set/decide/engine_selection.h"

namespace paddle::controllers::sample_set {

void emit_status_events(const api::SampleSet& set, const World& world,
                        const api::SampleSetStatus& next, const EngineSelection& selection,
                        Plan& plan);

}  // namespace paddle::controllers::sample_set
