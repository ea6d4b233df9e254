// SPDX-License-Identifier: Apache-2.0
//
// What the parts of a job add up to, each by one runtime. Pure.

#pragma once

#include <string>
#include <vector>

#include "api/sample_job.h"
#include "runtime/protocol/protocol.h"

namespace paddle::controllers::runtime_jobs {

// Of a partition, as status has them.
inline constexpr const char* kPending = "Pending";
inline constexpr const char* kRunning = "Running";
inline constexpr const char* kSucceeded = "Succeeded";
inline constexpr const char* kFailed = "Failed";
inline constexpr const char* kCancelled = "Cancelled";

std::string partition_state(runtime::JobState state);
bool ended(const std::string& state);
api::Work to_work(const runtime::JobReport& report);

api::Work sum(const std::vector<api::JobPartition>& partitions);
// "42% 1.7 GiB/4.2 GiB"; files when no bytes are known, "" when nothing is.
std::string progress_text(const api::Work& work);
// "128,660 files, 4.2 GiB", with those that failed; "" when nothing is known.
std::string amount_text(const api::Work& work);
// "17 objects of the source are left out: 'a//b' (an empty part), ... and 12 more"; "" for none.
std::string left_out_text(const engine::LeftOut& left);
// "partition 1 on node b: no such bucket; partition 2: ..."; the first few.
std::string failures_text(const std::vector<api::JobPartition>& partitions);

}  // namespace paddle::controllers::runtime_jobs
