// SPDX-License-Identifier: Apache-2.0
//
// How long the write of a changed status may wait. Pure.
//
//   messages, cache statistics, progress of jobs   until 5 s after the last write
//   everything else                                not at all: phase, conditions, ids, partitions

#pragma once

#include <chrono>
#include <optional>

#include "api/sample_set.h"

namespace paddle::controllers::sample_set {

// Whether messages and counters are all that differs.
bool differs_in_progress_only(const api::SampleSetStatus& before,
                              const api::SampleSetStatus& after);

// `since_last`: since the status was last written; absent: not known.
std::chrono::nanoseconds status_delay(const api::SampleSetStatus& before,
                                      const api::SampleSetStatus& after,
                                      const std::optional<std::chrono::nanoseconds>& since_last);

}  // namespace paddle::controllers::sample_set
