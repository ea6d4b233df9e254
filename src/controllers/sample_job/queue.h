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

namespace paddle::controllers::sample_jobs {

inline constexpr int kSentAtOnce = 4;

// How many jobs of its kind come before it; 0: it is its turn. `at_once`: how many of the kind may
// be with the runtimes.
int ahead_of(const api::SampleJob& job, const std::vector<Sibling>& siblings,
             int at_once = kSentAtOnce);

// The job that cancels this one: younger, and it says so. Empty: none.
std::string terminator_of(const api::SampleJob& job, const std::vector<Sibling>& siblings);

// Older jobs that have not ended: a job that cancels them waits for it.
int left_to_cancel(const api::SampleJob& job, const std::vector<Sibling>& siblings);

}  // namespace paddle::controllers::sample_jobs
