// SPDX-License-Identifier: Apache-2.0
//
// The phase of a SampleSet (api/phases.h). Pure.
//
//   ""            the volume is not bound yet
//   Bound         no runtime is ready yet
//   Mount         a runtime is ready; no runtime knows the sync yet
//   Syncing, SyncFailed
//   PartialReady  synced; a runtime is missing, or has not ended its first warm-up
//   Ready         mountable, every runtime serves, synced, and warmed up once
//
// A set stays Ready whatever users do to the cache; only missing runtimes change that.

#pragma once

#include <string>

#include "api/sample_set.h"
#include "controllers/sample_set/decide/automatic_jobs.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_set {

// `status` is the next one, with its partitions and the condition Synced.
std::string phase_of(const api::SampleSet& set, const World& world, bool shares_volume,
                     const JobProgress& sync, const api::SampleSetStatus& status);

}  // namespace paddle::controllers::sample_set
