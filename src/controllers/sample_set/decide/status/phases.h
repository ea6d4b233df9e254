// SPDX-License-Identifier: Apache-2.0
//
// The phase of a SampleSet, in the contract's words. Pure.
//
//   ""            the volume is not bound yet
//   Bound         no runtime is ready yet
//   Mount         a runtime is there; its sync has not been asked for
//   Syncing, SyncFailed
//   PartialReady  synced; a runtime is missing, or has not ended its first warm-up
//   Ready         mountable, every runtime serves, synced, and warmed up once
//
// Ready is not taken back by what users do to the cache, only by runtimes that are gone.

#pragma once

#include <string>

#include "api/sample_set.h"
#include "controllers/sample_set/decide/automatic_jobs.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_set {

// Every runtime answers, and has what it serves from.
bool all_serve(const api::SampleSet& set, const World& world, bool shares_volume);
// Each partition has ended a warm-up where it is, or none is wanted.
bool warmed_once(const api::SampleSet& set, const World& world, const api::SampleSetStatus& status);

// `status` is the one to come: with its partitions and the condition Synced.
std::string phase_of(const api::SampleSet& set, const World& world, bool shares_volume,
                     const SyncProgress& sync, const api::SampleSetStatus& status);

}  // namespace paddle::controllers::sample_set
