// SPDX-License-Identifier: Apache-2.0
//
// Why the rest of a partition is not cached although no warm-up is going to cache it
// (PartitionStatus::uncached_reason): jobs that wait for their data do not wait for that. Pure.
//
// With the automatic warm-up the reason is set once the warm-up has ended on the partition's node,
// or has failed often enough, and no other warm-up runs or waits there. A cache that a user cleared
// is not filled again.
//
// With the automatic warm-up disabled, users cache samples when they want to and may still do so:
// only a cache that one of their warm-ups has filled up counts.

#pragma once

#include "api/sample_set.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_set {

// `status` is the next one, with its partitions and the ids of its jobs.
void set_uncached_reasons(const api::SampleSet& set, const World& world,
                          api::SampleSetStatus& status);

}  // namespace paddle::controllers::sample_set
