// SPDX-License-Identifier: Apache-2.0
//
// The parts of one job, each with the runtime of one partition, kept in a status. Pure.
//
// A part is asked for under an id that stands in the status, and what is said to have succeeded is
// never asked for again. A sync is divided by the runtime of the first part. Its parts keep their
// runtimes, however often these restart or move; when nothing goes on but parts of runtimes that
// do not come back, what is left is divided anew among those that are there (redivide), and
// what was given up is remembered until it has been cancelled (`left`).

#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/shared.h"
#include "base/clock.h"
#include "controllers/runtime_jobs/job_progress.h"
#include "runtime/protocol/protocol.h"

namespace paddle::controllers::runtime_jobs {

using PartitionJobs = std::vector<api::JobPartition>;

// A part waits this long for its runtime, or for the first one to say what it is, before it is
// given to others.
inline constexpr std::chrono::seconds kStallTimeout{60};

// A runtime of the set that runs, and what it knows of its part.
struct PartitionReport {
  int partition = 0;
  std::string node{};
  std::string error{};                      // why it could not be asked
  std::optional<runtime::JobReport> job{};  // nothing: never heard of it, or could not be asked
  bool operator==(const PartitionReport&) const = default;
};
const PartitionReport* report_of(const std::vector<PartitionReport>& answers, int partition);
bool is_reachable(const std::vector<PartitionReport>& answers, int partition);

// One for each of these partitions, in this order, none of them asked for yet.
PartitionJobs start_partitions(const std::string& id, const std::vector<int>& partitions);
// The first, which divides, and of `count` partitions those that are there.
std::vector<int> sharing_partitions(const std::vector<PartitionReport>& answers, int count);

// What the runtimes say goes into the parts that have not ended; `give` is called for each whose
// runtime has not heard of it. PartitionJobs of partitions that the set no longer has stay as they
// are.
void update_partitions(const std::vector<PartitionReport>& answers, int partitions, WallTime now,
                       PartitionJobs& parts,
                       const std::function<void(const api::JobPartition&)>& give);

bool all_succeeded(const PartitionJobs& parts);  // and there is one
// Why what is left of a shared sync has to be divided anew; empty: it need not.
std::string redivision_reason(const PartitionJobs& parts, int partitions, WallTime now);
// The division after that of this id: "<id>.1", "<id>.2".
std::string next_division_id(const std::string& id);
// The parts are another division's from now on; those of the old that have not ended are left.
void redivide(const std::string& id, const std::vector<int>& partitions, PartitionJobs& parts,
              PartitionJobs& left);
// Cancels what was left where its runtime can be told, and forgets it.
void cancel_abandoned(const std::vector<PartitionReport>& answers, int partitions,
                      PartitionJobs& left,
                      const std::function<void(const api::JobPartition&)>& cancel);

// Says in `request`, which is for the whole sync, which part of it this is.
void describe_part(const api::JobPartition& part, const PartitionJobs& parts,
                   const std::string& lists_at, runtime::JobRequest& request);

}  // namespace paddle::controllers::runtime_jobs
