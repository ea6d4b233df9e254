// SPDX-License-Identifier: Apache-2.0
//
// Objects for tests of decisions, and a model that plays the API server and the runtimes of a set.

#pragma once

#include <string>
#include <vector>

#include "controllers/sample_job/plan.h"

namespace paddle::controllers::sample_job {

inline const WallTime kNow{std::chrono::seconds{1'800'000'000}};

api::SampleJob job_of(const std::string& type = "warmup");
api::SampleSet set_of(int partitions, const std::string& phase = "Ready");
// A set whose runtimes all run and know nothing yet.
World world_of(int partitions, bool shares_volume = false);

bool is_empty(const Plan& plan);  // besides requeue_after
std::vector<Action> actions_of(const Plan& plan);

// What is requested is known to the runtime from then on, what is written is stored.
struct JobModel {
  api::SampleJob job = job_of();
  World world = world_of(2);
  WallTime now = kNow;
  std::vector<std::string> requested{};  // "<partition>:<id>"
  std::vector<std::string> cancelled{};  // as well
  std::vector<std::string> events{};     // their reasons
  std::vector<std::string> completed{};  // ids of syncs
  bool deleted = false;

  // Plans once and executes the plan; an operator that is killed, only its first writes, of which
  // the status is the last.
  Plan pass(std::size_t writes = static_cast<std::size_t>(-1));
  // A pass of an operator that has begun with a list of jobs as it was before the last `passes_ago`
  // passes, and executes its plan `times` times. The API server refuses a status that was decided
  // on an older version. Runtimes are polled for the job that this status names.
  void pass_late(std::size_t passes_ago, int times = 1);
  // Passes until the plan is empty.
  void settle();

  PartitionReport& report(int partition);
  // The runtime reports this of its job.
  void reports(int partition, runtime::JobState state, const std::string& error = "");
  // The runtime has done its part of a sync that was divided like this.
  void finishes_part(int partition, const std::string& cut);

  std::string reason(const char* type = "Ready") const;
  std::string message(const char* type = "Ready") const;

  std::vector<api::SampleJob> seen{};  // after each pass

 private:
  // Returns how many of the writes were left to do.
  std::size_t execute(const Plan& plan, std::size_t writes);
};

// Three runtimes share a volume and have divided a sync.
JobModel divided_sync();

}  // namespace paddle::controllers::sample_job
