// SPDX-License-Identifier: Apache-2.0
//
// What a decision about one SampleJob rests on: what the informers and the runtimes say. Values.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/sample_job.h"
#include "api/sample_set.h"
#include "controllers/runtime_jobs/fanout.h"

namespace paddle::controllers::sample_job {

using runtime_jobs::PartitionReport;

// Another job of the same set that has not ended.
struct Sibling {
  std::string name{};
  std::string type{};
  WallTime created{};
  bool sent = false;       // runtimes have been asked
  bool waits = false;      // for something that only it needs: it holds up nobody
  bool terminate = false;  // cancels others before it begins
  bool operator==(const Sibling&) const = default;
};

struct World {
  std::optional<api::SampleSet> set{};  // nothing: there is none of that name
  // All runtimes of its engine see one volume: a sync or a removal is the first one's affair.
  bool shares_volume = false;
  std::vector<PartitionReport> reports{};
  std::vector<Sibling> siblings{};
  // The Secret that the job names; nothing: it names none.
  std::optional<bool> secret_exists{};
  std::vector<api::SampleJob> runs{};  // of a schedule: the jobs that it has made
};

}  // namespace paddle::controllers::sample_job
