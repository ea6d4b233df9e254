// SPDX-License-Identifier: Apache-2.0
//
// How much of a SampleSet is cached, in the whole (the columns of `kubectl get sampleset`) and for
// each partition, from what the runtimes report. Pure.

#pragma once

#include <optional>
#include <vector>

#include "api/sample_set.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_set {

// Sums over all runtimes; absent when none of them has answered yet.
std::optional<api::CacheStatus> cache_stats(const std::vector<RuntimeReport>& reports);

// Updates status.cache. While a runtime does not answer but is not silent yet, it stays as it is:
// the sums do not jump.
void update_cache_stats(const World& world, api::SampleSetStatus& status);

// One for each partition, in order: where it is, whether it serves, and its bytes. Everything else
// is as the stored status has it.
std::vector<api::PartitionStatus> partition_stats(const api::SampleSet& set, const World& world,
                                                  bool shares_volume);

}  // namespace paddle::controllers::sample_set
