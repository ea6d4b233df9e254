// SPDX-License-Identifier: Apache-2.0
//
// Runs the jobs of a book on an engine: one thread per kind, idle ones wait. What put() returns is
// in the journal: a restart runs it (again). Not so a job that came with keys of its own: they are
// written nowhere, so a restart forgets it, and whoever wants it asks again. Destruction stops what
// runs and leaves it in the journal as running, so that the next process runs it again; a job that
// was cancelled is in the journal as such at once, and no process runs it again.
// Thread-safe.

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/sync.h"
#include "engine/node_engine.h"
#include "runtime/server/job_table.h"
#include "runtime/server/journal.h"

namespace paddle::runtime {

class JobRunner {
 public:
  // Begins with what the journal holds. The engine outlives it.
  static Result<std::unique_ptr<JobRunner>> start(std::unique_ptr<Journal> journal,
                                                  engine::NodeEngine& engine);
  ~JobRunner();

  Result<JobReport> put(const std::string& id, const JobRequest& request) EXCLUDES(mutex_);
  std::optional<JobReport> find(const std::string& id) const EXCLUDES(mutex_);
  std::vector<JobReport> all() const EXCLUDES(mutex_);
  std::string latest_success(JobKind kind) const EXCLUDES(mutex_);
  std::optional<LastWarmUp> last_warm_up() const EXCLUDES(mutex_);
  void cancel(const std::string& id) EXCLUDES(mutex_);

 private:
  JobRunner(std::unique_ptr<Journal> journal, engine::NodeEngine& engine);
  void work(JobKind kind, const std::stop_token& end) EXCLUDES(mutex_);
  Result<> execute(const Job& job, std::stop_token stop);
  Result<> store(const Job& job) const REQUIRES(mutex_);
  void note(const Job& job) const REQUIRES(mutex_);

  const std::unique_ptr<Journal> journal_;
  engine::NodeEngine& engine_;

  mutable Mutex mutex_;
  CondVar wake_;
  JobTable table_ GUARDED_BY(mutex_);
  std::map<std::string, std::stop_source> running_ GUARDED_BY(mutex_);

  std::vector<std::jthread> threads_;  // last: they use everything above
};

}  // namespace paddle::runtime
