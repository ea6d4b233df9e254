// SPDX-License-Identifier: Apache-2.0
//
// Runs the jobs of a JobTable on an engine, with one thread per kind of job. When put() returns,
// the job is in the journal, and a restart runs it (again). The exception is a job with keys of its
// own: keys are never written, so a restart forgets the job and its caller has to send it again.
// Destruction stops running jobs and leaves them in the journal as running, so that the next
// process runs them again. A job during which its process is killed kMostKills times in a row fails
// (the kernel has no memory for it, say). A cancelled job is in the journal as cancelled at once,
// and no process runs it again. Thread-safe.

#pragma once

#include <cstdint>
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
  // More than a node or an operator at work kills a runtime while it has one job. Kubernetes waits
  // longer before each start: a quarter of an hour in all.
  static constexpr std::int64_t kMostKills = 8;

  // Starts with the jobs of the journal. The engine outlives it.
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
