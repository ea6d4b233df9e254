// SPDX-License-Identifier: Apache-2.0
//
// Which events a change of the status is worth, each once. Pure. What becomes of objects that are
// made or deleted is told where that is done.

#pragma once

#include "api/sample_set.h"
#include "controllers/sample_set/actions.h"
#include "controllers/sample_set/blockers.h"

namespace paddle::controllers::sample_sets {

void tell_news(const api::SampleSet& set, const World& world, const api::SampleSetStatus& next,
               const Choice& choice, Plan& plan);

}  // namespace paddle::controllers::sample_sets
