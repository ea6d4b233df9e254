// SPDX-License-Identifier: Apache-2.0
//
// Which partitions are as warm as they can be though not all of them is cached, and why: jobs with
// a gate on their data do not wait for what will not come. Pure.
//
// With the automatic warm-up that is so once it has ended where the partition is, or has failed
// often enough, and no other warm-up runs or waits there. A cache that somebody cleared is not
// filled again, so a cleared partition is as warm as it can be.
//
// With the warm-up switched off users bring samples in when they want to, and may still do so: only
// a cache that one of their warm-ups has filled counts.

#pragma once

#include "api/sample_set.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_set {

// `status` is the one to come: with its partitions, and the ids of the jobs to come.
void set_uncached_reasons(const api::SampleSet& set, const World& world,
                          api::SampleSetStatus& status);

}  // namespace paddle::controllers::sample_set
