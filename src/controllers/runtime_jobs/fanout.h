// SPDX-License-Identifier: Apache-2.0
//
// One job as parts, one for the runtime of each partition, kept in a status. Pure.
//
// A part is sent under an id that is in the status, and a part that is known to have succeeded is
// never sent again. A sync is divided by the runtime of the first part. A part stays with its
// partition, however often the runtime restarts or moves to another node. When only parts of
// runtimes that do not come back are left, these are divided again among the runtimes that run
// (redivide), and an abandoned part is kept until it has been cancelled (`left`).

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

// How long a part waits for its runtime, or for the first runtime to say what the part is, before
// it is divided among the others.
inline constexpr std::chrono::seconds kStallTimeout{60};

// The actions of a plan that concern jobs on runtimes. The id of a job is stored in a status before
// any runtime receives it, so each action may be repeated.
// Sends a job to the runtime of one partition.
struct PutJob {
  int partition = 0;
  std::string id{};
  runtime::JobRequest request{};
  bool operator==(const PutJob&) const = default;
};

struct CancelJob {
  int partition = 0;
  std::string id{};
  bool operator==(const CancelJob&) const = default;
};

// The message of a part whose runtime does not run, or does not answer and does not say why.
inline constexpr const char* kRuntimeAway = "its runtime is away";

// A runtime of the set that runs, and what it reports on its part.
struct PartitionReport {
  int partition = 0;
  std::string node{};
  std::string error{};                      // why it could not be queried
  std::optional<runtime::JobReport> job{};  // absent: it does not know the part, or see `error`
  bool operator==(const PartitionReport&) const = default;
};
const PartitionReport* report_of(const std::vector<PartitionReport>& reports, int partition);
bool is_reachable(const std::vector<PartitionReport>& reports, int partition);

// One part for each of these partitions, in this order, not sent yet.
PartitionJobs start_partitions(const std::string& id, const std::vector<int>& partitions);
// Of `count` partitions the first, whose runtime divides, and those whose runtimes are reachable.
std::vector<int> sharing_partitions(const std::vector<PartitionReport>& reports, int count);

// Takes the reports over into the parts that have not ended, and calls `send` for each part that
// its runtime does not know. Parts of partitions that the set no longer has stay as they are.
void update_partitions(const std::vector<PartitionReport>& reports, int partitions, WallTime now,
                       PartitionJobs& parts,
                       const std::function<void(const api::JobPartition&)>& send);

bool all_succeeded(const PartitionJobs& parts);  // false when there are none
// Why the rest of a divided sync has to be divided again; empty: it does not.
std::string redivision_reason(const PartitionJobs& parts, int partitions, WallTime now);
// The id of the division after this one: "<id>.1", "<id>.2".
std::string next_division_id(const std::string& id);
// Replaces the parts by those of another division; old parts that have not ended go to `left`.
void redivide(const std::string& id, const std::vector<int>& partitions, PartitionJobs& parts,
              PartitionJobs& left);
// Calls `cancel` for each part in `left` whose runtime is reachable, and removes it from `left`;
// also removes parts of partitions that the set no longer has.
void cancel_abandoned(const std::vector<PartitionReport>& reports, int partitions,
                      PartitionJobs& left,
                      const std::function<void(const api::JobPartition&)>& cancel);

// Makes `request`, which is for the whole sync, one for this part of it.
void describe_part(const api::JobPartition& part, const PartitionJobs& parts,
                   const std::string& lists_at, runtime::JobRequest& request);

}  // namespace paddle::controllers::runtime_jobs
