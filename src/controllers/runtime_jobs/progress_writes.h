// SPDX-License-Identifier: Apache-2.0
//
// How often a status is written that differs from the stored one only in progress: messages and
// counters that move while runtimes work. At most every kProgressWriteInterval; each write costs
// the API server and everyone who watches the object. Every other change is written at once. Pure.

#pragma once

#include <chrono>
#include <optional>

#include "api/shared.h"
#include "controllers/runtime_jobs/fanout.h"

namespace paddle::controllers::runtime_jobs {

inline constexpr std::chrono::seconds kProgressWriteInterval{5};

// What is left of these when progress is left out: two that are equal then differ in progress only.
api::Conditions without_progress(api::Conditions conditions);
PartitionJobs without_progress(PartitionJobs parts);

// How much longer such a write waits. `since_last`: since the status was last written, for any
// reason; absent: not known to this process.
std::chrono::nanoseconds progress_write_delay(
    const std::optional<std::chrono::nanoseconds>& since_last);

}  // namespace paddle::controllers::runtime_jobs
