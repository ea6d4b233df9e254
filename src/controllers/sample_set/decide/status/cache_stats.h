// SPDX-License-Identifier: Apache-2.0
//
// The figures that `kubectl get sampleset` shows, from what the runtimes say. Pure.

#pragma once

#include <optional>
#include <vector>

#include "api/sample_set.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_set {

// Sums over all runtimes; nothing when none of them has answered yet.
std::optional<api::CacheStatus> cache_stats(const std::vector<RuntimeReport>& answers);

}  // namespace paddle::controllers::sample_set
