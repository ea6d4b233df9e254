// SPDX-License-Identifier: Apache-2.0
//
// Names that follow from a SampleJob. They are known outside of this process: to users, to
// runtimes, and to operators of other versions. Pure.

#pragma once

#include <string>

#include "api/core/meta.h"
#include "api/sample_job.h"
#include "base/clock.h"

namespace paddle::controllers::sample_job {

// The ids under which a SampleJob is known to runtimes begin with this, those of other work do not.
inline constexpr const char* kJobIdPrefix = "job-";
// On a run of a schedule: the name of the schedule, and the time at which the run was due.
inline constexpr const char* kScheduleLabel = "batch.paddlepaddle.org/samplejob";
inline constexpr const char* kDueAnnotation = "batch.paddlepaddle.org/scheduled-at";

// The SampleSet in spec.sampleSetRef.
api::ObjectKey sample_set_of(const api::SampleJob& job);

// "paddlepaddle.org/samplejob-<name>". Older operators set it; nothing needs it any more.
std::string finalizer_of(const api::SampleJob& job);

// All ids of this job at the runtimes begin with this, and those of no other job do.
std::string id_prefix(const api::Meta& meta);
// The id of the attempt after `failures` failed ones. Another generation of the spec gives other
// ids.
std::string attempt_id(const api::Meta& meta, int failures);

// The run of a schedule for one minute: the same minute always gives the same name.
std::string run_name(const api::SampleJob& job, WallTime due);

}  // namespace paddle::controllers::sample_job
