// SPDX-License-Identifier: Apache-2.0
//
// Blocks of host ports that jobs have chosen and not stored yet. Passes over different jobs run at
// the same time: without this table two of them could choose the same block. A reservation lasts
// from the choice until the job's status shows the block (or the job is gone); it is never held by
// a lock, so a job that waits for the API server delays no other. Needed by one process only: the
// leader is the only one that chooses, and a restarted one finds the stored blocks. Thread-safe.

#pragma once

#include <map>
#include <set>

#include "api/core/meta.h"
#include "base/sync.h"

namespace paddle::controllers::paddle_job {

class PortReservations {
 public:
  // Replaces the job's earlier reservation. False, and nothing is reserved for the job, when the
  // block overlaps that of another job.
  bool reserve(const api::ObjectKey& job, int first_port) EXCLUDES(mutex_);
  void release(const api::ObjectKey& job) EXCLUDES(mutex_);
  // The blocks of all other jobs, by first port.
  std::set<int> of_others(const api::ObjectKey& job) const EXCLUDES(mutex_);

 private:
  std::set<int> others(const api::ObjectKey& job) const REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::map<api::ObjectKey, int> blocks_ GUARDED_BY(mutex_);
};

}  // namespace paddle::controllers::paddle_job
