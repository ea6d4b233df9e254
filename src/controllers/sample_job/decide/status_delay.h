// SPDX-License-Identifier: Apache-2.0
//
// How long the write of a changed status may wait: one that differs only in progress (messages,
// counters, the progress column) until 5 s after the last write, everything else not at all. Pure.

#pragma once

#include <chrono>
#include <optional>

#include "api/sample_job.h"

namespace paddle::controllers::sample_job {

// `since_last`: since the status was last written; absent: not known.
std::chrono::nanoseconds status_delay(const api::SampleJobStatus& before,
                                      const api::SampleJobStatus& after,
                                      const std::optional<std::chrono::nanoseconds>& since_last);

}  // namespace paddle::controllers::sample_job
