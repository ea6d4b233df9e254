// SPDX-License-Identifier: Apache-2.0
//
// Lists of parts on disk, beside the journal, so that a job that is run again and a runtime that
// asks late get the same list.
//
//   <job>.<partition>  a list
//   <job>.whole        all lists of the job are complete; of a shared sync, a runtime other than
//                      the first has only its own
//   <job>.done         how many pieces of its own list this runtime has synced
//   part               the list that was warmed up last
//   syncing            a sync runs, or was interrupted
//
// The lists of the last kKept jobs are kept, and those of running jobs (hold()). Incomplete lists
// of other jobs are removed. Thread-safe: files appear by rename.

#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "base/result.h"
#include "base/sync.h"

namespace paddle::engine::juicefs {

class ListStore {
 public:
  static constexpr std::size_t kKept = 20;  // jobs

  // Creates the directory; its parent must exist. One ListStore per directory at a time.
  static Result<ListStore> open(const std::string& directory);

  // While the result lives, no list of this job is removed.
  [[nodiscard]] std::shared_ptr<void> hold(const std::string& job) const;

  bool whole(const std::string& job) const;
  Result<std::string> read(const std::string& job, std::int32_t partition) const;  // kNotFound
  Result<> write(const std::string& job, std::int32_t partition, const std::string& text) const;
  // Marks the lists as complete, and removes those of old jobs.
  Result<> finish(const std::string& job) const;

  std::size_t done(const std::string& job) const;  // 0 when nothing is recorded
  void note_done(const std::string& job, std::size_t pieces) const;

  Result<> write_part(const std::string& text) const;
  std::string part() const;  // empty: none

  // Whether an earlier sync was interrupted.
  bool begin_sync() const;
  void end_sync() const;

 private:
  struct AtWork {
    Mutex mutex;
    std::multiset<std::string> jobs GUARDED_BY(mutex);
  };

  explicit ListStore(std::string directory) : directory_(std::move(directory)) {}
  void forget_old() const;

  std::string directory_;
  std::shared_ptr<AtWork> at_work_ = std::make_shared<AtWork>();
};

}  // namespace paddle::engine::juicefs
