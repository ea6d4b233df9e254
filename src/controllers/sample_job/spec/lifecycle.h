// SPDX-License-Identifier: Apache-2.0
//
// When a SampleJob times out, ends, starts again and is deleted, as its spec says. Pure.

#pragma once

#include <optional>

#include "api/sample_job.h"
#include "base/clock.h"

namespace paddle::controllers::sample_job {

// It failed and its spec has changed since then: it gets another chance.
bool restarts(const api::SampleJob& job);

// It has finished and does not start again.
bool is_over(const api::SampleJob& job);

// When spec.activeDeadlineSeconds is over; absent: no limit, or it has not started.
std::optional<WallTime> deadline_of(const api::SampleJob& job, const api::SampleJobStatus& status);

// When spec.ttlSecondsAfterFinished is over; absent: no limit, or it has not finished.
std::optional<WallTime> expiry_of(const api::SampleJob& job);

}  // namespace paddle::controllers::sample_job
