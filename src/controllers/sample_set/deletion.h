// SPDX-License-Identifier: Apache-2.0
//
// The end of a SampleSet, in order: nobody uses it -> node labels -> runtimes -> their pods are
// gone
// -> service, token, claim -> volume -> the finalizer. The source is never touched. Pure.

#pragma once

#include "controllers/sample_set/plan.h"

namespace paddle::controllers::sample_sets {

Plan ending(const api::SampleSet& set, const World& world, WallTime now);

}  // namespace paddle::controllers::sample_sets
