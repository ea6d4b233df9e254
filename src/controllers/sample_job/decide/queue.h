// SPDX-License-Identifier: Apache-2.0
//
// The order of the jobs of one set. Pure.
//
// First come, first served, per type: types do not block each other, except that syncs and removals
// of a volume that runtimes share go one after the other (a sync may run on all runtimes, a removal
// on one). The runtimes have a few jobs of a type at once (Config::sent_at_once) and run them one
// by one. A job that waits for something of its own blocks no other job.

#pragma once

#include <string>
#include <vector>

#include "api/sample_job.h"
#include "controllers/sample_job/world.h"

namespace paddle::controllers::sample_job {

// How many jobs come before this one; 0: it may start. `at_once`: how many of its type the runtimes
// may have. `shares_volume`: World::shares_volume.
int ahead_of(const api::SampleJob& job, const std::vector<Sibling>& siblings, int at_once,
             bool shares_volume);
// Syncs and removals count as one type.
bool waits_for_changes(const api::SampleJob& job, bool shares_volume);

// The job with spec.terminate that cancels this one: a younger one. Empty: none. Creation times are
// whole seconds: of the jobs of one second it cancels those that runtimes have, and the others wait
// until it has started.
std::string terminator_of(const api::SampleJob& job, const std::vector<Sibling>& siblings);
std::string waits_for_terminator(const api::SampleJob& job, const std::vector<Sibling>& siblings);

// How many jobs this one, with spec.terminate, cancels that have not ended: it waits for them.
int left_to_cancel(const api::SampleJob& job, const std::vector<Sibling>& siblings);

}  // namespace paddle::controllers::sample_job
