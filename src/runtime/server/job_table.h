// SPDX-License-Identifier: Apache-2.0
//
// All jobs of a runtime with their state, and which of them runs next. Pure: no clock, no I/O, not
// thread-safe.
//
// Kinds do not block each other; jobs of one kind run one at a time, in the order in which they
// arrived. All kinds that change the set count as one: the last change wins. The last kKept
// finished jobs of a kind are remembered, so that a request with the id of one of them does not run
// it again.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/node_engine.h"
#include "runtime/protocol/protocol.h"

namespace paddle::runtime {

struct Job {
  std::uint64_t number = 0;  // in the order of arrival
  JobRequest request{};
  JobReport report{};
  bool cancelled = false;  // while it ran
  bool operator==(const Job&) const = default;
};

class JobTable {
 public:
  static constexpr std::size_t kKept = 100;     // finished jobs of a kind
  static constexpr std::size_t kWaiting = 100;  // unfinished jobs

  // Adds the jobs of an earlier process. A job that was running is queued again, unless it was
  // cancelled.
  void restore(std::vector<Job> jobs);

  // Queues a new job, or returns the known one if id and request are the same; `again` does not
  // matter. kConflict: the id belongs to another request. kThrottled: too many unfinished jobs.
  Result<Job> put(const std::string& id, const JobRequest& request);
  // Removes a job whose put() was not yet confirmed to the caller.
  void withdraw(const std::string& id) { jobs_.erase(id); }
  const Job* find(const std::string& id) const;
  std::vector<JobReport> all() const;  // in the order of arrival
  // The id of the latest job of that kind that succeeded, without parts of shared syncs and dry
  // runs; empty: none is remembered.
  std::string latest_success(JobKind kind) const;
  // Whether a job that clears the cache arrived after it, with any result.
  bool cleared_since(const Job& job) const;
  std::optional<LastWarmUp> last_warm_up() const;

  // Starts and returns the next job of that kind; nothing when one runs or none is queued.
  std::optional<Job> start(JobKind kind);
  // Only for running jobs.
  void update_progress(const std::string& id, const engine::Progress& progress);
  std::optional<Job> finish(const std::string& id, const Result<>& outcome);

  // A queued job is cancelled and returned. With `running`, the caller has to stop the job; it is
  // marked, so that no later process runs it again.
  struct Cancelled {
    bool running = false;
    std::optional<Job> job{};
  };
  Cancelled cancel(const std::string& id);

  // Ids that were forgotten since the last call.
  std::vector<std::string> forgotten();

 private:
  void forget_old();
  std::map<std::string, Job> jobs_{};
  std::uint64_t next_ = 1;
  std::vector<std::string> forgotten_{};
};

}  // namespace paddle::runtime
