// SPDX-License-Identifier: Apache-2.0
//
// A SampleJob with a schedule does nothing itself: it makes a job for each time that is due, named
// by a hash of the minute, so that the same minute never makes two. Pure.
//
// After having been away, and after a step of the clock, at most one run catches up: the latest. A
// run that is later than startingDeadlineSeconds is left out. Forbid: while one runs the next waits
// (and only the latest is made up for); Replace: the one that runs is deleted, which cancels it.

#pragma once

#include <string>

#include "api/sample_job.h"
#include "controllers/sample_job/plan.h"

namespace paddle::controllers::sample_job {

Plan desired_schedule(const api::SampleJob& job, const World& world, WallTime now);

std::string run_name(const api::SampleJob& job, WallTime due);

}  // namespace paddle::controllers::sample_job
