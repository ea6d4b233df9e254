// SPDX-License-Identifier: Apache-2.0
//
// Whose turn it is among the jobs of one set. Pure.
//
// First come, first served, per kind: kinds do not block each other. A few jobs of a kind are with
// the runtimes at once, so that none idles between two; they run them one by one. A job that waits
// for something of its own holds up nobody.

#pragma once

#include <string>
#include <vector>

#include "api/sample_job.h"
#include "controllers/sample_job/world.h"

namespace paddle::controllers::sample_job {

inline constexpr int kSentAtOnce = 4;

// How many jobs of its kind come before it; 0: it is its turn. `at_once`: how many of the kind may
// be with the runtimes.
int ahead_of(const api::SampleJob& job, const std::vector<Sibling>& siblings,
             int at_once = kSentAtOnce);

// The job that cancels this one: younger, and it says so. Empty: none. Times are whole seconds: of
// jobs of one second it cancels those that runtimes have been asked for, and the others wait until
// it has begun.
std::string terminator_of(const api::SampleJob& job, const std::vector<Sibling>& siblings);
std::string waits_for_terminator(const api::SampleJob& job, const std::vector<Sibling>& siblings);

// Jobs that it cancels and that have not ended: it waits for them.
int left_to_cancel(const api::SampleJob& job, const std::vector<Sibling>& siblings);

}  // namespace paddle::controllers::sample_job
