// SPDX-License-Identifier: Apache-2.0
//
// What a decision about one SampleJob is based on: the objects that informers have and the reports
// of the runtimes. Values.

#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/sample_job.h"
#include "api/sample_set.h"
#include "controllers/runtime_jobs/fanout.h"
#include "runtime/protocol/protocol.h"

namespace paddle::controllers::sample_job {

using runtime_jobs::PartitionReport;

// Another job of the same set that has not finished.
struct Sibling {
  std::string name{};
  std::optional<runtime::JobKind> kind{};
  WallTime created{};
  bool sent = false;           // the runtimes have requests of it
  bool stalled = false;        // sent, and only runtimes that are away have not done their part
  bool blocked_alone = false;  // it waits for something that only it needs: others may overtake it
  bool terminate = false;      // spec.terminate: it cancels older jobs before it starts
  bool operator==(const Sibling&) const = default;
};

struct World {
  std::optional<api::SampleSet> set{};  // absent: it does not exist
  // All runtimes of the set see one volume, so a sync or a removal is done once, not by each.
  bool shares_volume = false;
  // Why the engine of the set runs no jobs of this type, and what to do; empty: it runs them.
  std::string refusal{};
  std::vector<PartitionReport> reports{};  // of the runtimes that run, by partition
  std::vector<Sibling> siblings{};
  // Whether the Secret in spec.secretRef exists; absent: the job names none, or needs it no longer.
  std::optional<bool> secret_exists{};
  std::vector<api::SampleJob> runs{};  // the jobs that a schedule has created
  // Since this process last wrote the status; absent: it has not.
  std::optional<std::chrono::nanoseconds> since_status_write{};
};

// Reports, by partition, that stand for requests which have been rejected and would be again.
using RejectedRequests = std::map<int, PartitionReport>;

}  // namespace paddle::controllers::sample_job
