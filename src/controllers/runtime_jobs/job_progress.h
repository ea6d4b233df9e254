// SPDX-License-Identifier: Apache-2.0
//
// The state and the progress of a job, summed up over its parts. Pure.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/phases.h"
#include "api/sample_job.h"
#include "runtime/protocol/protocol.h"

namespace paddle::controllers::runtime_jobs {

// The states of a partition in a status.
using api::partition_state::kCancelled;
using api::partition_state::kFailed;
using api::partition_state::kPending;
using api::partition_state::kRunning;
using api::partition_state::kSucceeded;

std::string partition_state(runtime::JobState state);
bool ended(const std::string& state);
api::Work to_work(const runtime::JobReport& report);

api::Work sum(const std::vector<api::JobPartition>& partitions);
// Of a job that every runtime does whole, on its own cache: each file counts once, and it is done
// when all have done it.
api::Work common_work(const std::vector<api::JobPartition>& partitions);
// What all parts have found, the worst of it first; absent: none is a verification.
std::optional<api::Verification> sum_of_verifications(
    const std::vector<api::JobPartition>& partitions);
// "1,200 samples checked: 3 corrupt, 2 missing; 4 repaired; the first: 'a/b' (corrupt)", and what
// to do.
std::string verification_text(const api::Verification& found);
// "42% 1.7 GiB/4.2 GiB"; files while no bytes are known, "" when nothing is.
std::string progress_text(const api::Work& work);
// "128,660 files, 4.2 GiB", and how many failed; "" when nothing is known.
std::string amount_text(const api::Work& work);
// "17 objects of the source are left out: 'a//b' (an empty part), ... and 12 more"; "" for none.
std::string left_out_text(const engine::LeftOut& left);
// "3 files that are newer than the removal are left"; "" for none.
std::string left_by_removal_text(const engine::LeftOut& left);
// The first few as "partition 1 on node b: no such bucket; partition 2: ...".
std::string failures_text(const std::vector<api::JobPartition>& partitions);

}  // namespace paddle::controllers::runtime_jobs
