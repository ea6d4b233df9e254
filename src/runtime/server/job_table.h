// SPDX-License-Identifier: Apache-2.0
//
// Which job runs when, and what is known about each. Pure: no clock, no I/O, not thread-safe.
//
// Kinds do not block each other; of one kind one job runs at a time, in the order they came. When
// changes are to be in order, syncs and removals are one kind in this. A job that has ended is
// remembered among the last kKept ones of its kind, so that asking again under its id does not run
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
  std::uint64_t number = 0;  // the order in which they came
  JobRequest request{};
  JobReport report{};
  bool cancelled = false;  // asked to end while it ran
  bool operator==(const Job&) const = default;
};

class JobTable {
 public:
  static constexpr std::size_t kKept = 100;     // of a kind, that have ended
  static constexpr std::size_t kWaiting = 100;  // that have not

  explicit JobTable(bool changes_in_order = false) : changes_in_order_(changes_in_order) {}

  // What an earlier process wrote down; a job that was running is queued again, unless it had been
  // asked to end.
  void restore(std::vector<Job> jobs);

  // A new job is queued; the same under the same id is the one that is known, whether or not it is
  // asked for `again`. kConflict: another job has that id. kThrottled: too many wait.
  Result<Job> put(const std::string& id, const JobRequest& request);
  // As if it had never been put; for one that nobody has been promised yet.
  void withdraw(const std::string& id) { jobs_.erase(id); }
  const Job* find(const std::string& id) const;
  std::vector<JobReport> all() const;  // in the order they came
  // The id of the latest one of that kind that has succeeded, parts of one and those that changed
  // nothing (dry) left out; empty: none that is remembered.
  std::string latest_success(JobKind kind) const;
  // One that clears the cache came after it, whatever became of that one.
  bool cleared_since(const Job& job) const;
  std::optional<LastWarmUp> last_warm_up() const;

  // The next one of that kind, which runs from now on; nothing when one runs or none waits.
  std::optional<Job> start(JobKind kind);
  // These know only running jobs.
  void update_progress(const std::string& id, const engine::Progress& progress);
  std::optional<Job> finish(const std::string& id, const Result<>& outcome);

  // A queued job is cancelled (and returned); true in `running`: whoever runs it has to stop it,
  // and it is marked, so that no later process runs it.
  struct Cancelled {
    bool running = false;
    std::optional<Job> job{};
  };
  Cancelled cancel(const std::string& id);

  // Ids that are remembered no longer, since the last call.
  std::vector<std::string> forgotten();

 private:
  void forget_old();
  bool waits_for(JobKind kind, JobKind other) const;

  bool changes_in_order_;
  std::map<std::string, Job> jobs_{};
  std::uint64_t next_ = 1;
  std::vector<std::string> forgotten_{};
};

}  // namespace paddle::runtime
