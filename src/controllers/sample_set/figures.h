// SPDX-License-Identifier: Apache-2.0
//
// The figures that `kubectl get sampleset` shows, from what the runtimes say. Pure.

#pragma once

#include <optional>
#include <vector>

#include "api/sample_set.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_sets {

// Sums over all runtimes; nothing when none of them has answered yet.
std::optional<api::CacheStatus> cache_figures(const std::vector<RuntimeSeen>& answers);

}  // namespace paddle::controllers::sample_sets
