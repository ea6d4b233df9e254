// SPDX-License-Identifier: Apache-2.0
//
// What to do next for one SampleSet, decided from values alone.
//
// Tests hold these properties:
//   - a converged world yields an empty plan;
//   - the id of a job is stored in the status before a runtime receives it;
//   - no runtime receives the same automatic warm-up again after it has ended;
//   - no object without this set's uid is changed or deleted;
//   - nothing delays the deletion of a set; its objects are removed as decide/deletion.h describes;
//   - a deleted set keeps its volume while a PaddleJob uses it.

#pragma once

#include "api/sample_set.h"
#include "base/clock.h"
#include "controllers/sample_set/actions.h"
#include "controllers/sample_set/config.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_set {

Plan desired(const api::SampleSet& set, const World& world, const Config& config, WallTime now);

}  // namespace paddle::controllers::sample_set
