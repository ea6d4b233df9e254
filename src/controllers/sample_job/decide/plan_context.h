// SPDX-License-Identifier: Apache-2.0
//
// The arguments of every decision about one SampleJob, and what follows from them at once. A
// decision gets it together with the status and the plan that it changes. Borrows: valid during one
// call of desired(). Pure.

#pragma once

#include <limits>

#include "api/sample_job.h"
#include "base/clock.h"
#include "controllers/sample_job/config.h"
#include "controllers/sample_job/spec/job_type.h"
#include "controllers/sample_job/world.h"

namespace paddle::controllers::sample_job {

struct PlanContext {
  const api::SampleJob& job;  // its status is the stored one, not the one that is being decided
  const JobType& type;        // of the job
  const World& world;
  const Config& config;
  const WallTime now;

  // Those of the set; while it does not exist, as many as there can be.
  int partitions() const {
    return world.set ? world.set->spec.effective_partitions() : std::numeric_limits<int>::max();
  }
  // How many runtimes, from the first on, have to run before the job starts. Where all see one
  // volume, the first is enough to change it.
  int required_runtimes() const {
    return world.shares_volume && type.changes_volume() ? 1 : partitions();
  }
  // Whether the runtimes divide the job among themselves, because they share a volume.
  bool is_divided() const {
    return world.set && world.shares_volume && type.is_divisible(job.spec);
  }
};

}  // namespace paddle::controllers::sample_job
