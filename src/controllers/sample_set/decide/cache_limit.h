// SPDX-License-Identifier: Apache-2.0
//
// The limit of what the caches of all sets of a namespace may have on the cluster's nodes together
// (--namespace-cache-limit): no ResourceQuota counts the disks of nodes. Pure.
//
// A set counts with the largest cache that it may have on a node, for each of its partitions. What
// runs keeps running: only a set that has no runtimes yet, or wants more of them, is blocked.

#pragma once

#include <cstdint>
#include <string>

#include "api/sample_set.h"
#include "controllers/plan/plan.h"
#include "controllers/sample_set/config.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_set {

// `mib`: of one node.
BlockReason cache_limit_blocks(const api::SampleSet& set, const World& world, const Config& config,
                               std::int64_t mib);

// "300 GiB of 1.0 TiB": of all sets; empty: there is no limit.
std::string namespace_cache(const api::SampleSet& set, const World& world, const Config& config,
                            std::int64_t mib);

}  // namespace paddle::controllers::sample_set
