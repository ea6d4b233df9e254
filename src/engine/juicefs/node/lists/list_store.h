// SPDX-License-Identifier: Apache-2.0
//
// Lists of parts, kept next to the journal so that a job that is run again, or a runtime that asks
// late, gets the same list: <directory>/<job>.<partition>, and <job>.whole when all of them are
// there (of a sync, with all but the first runtime: its own). <job>.done says how many pieces of
// its own list a runtime has done. The lists of the last few jobs are kept, and those that are
// held; what a job that gave up or was killed has left of them is removed. "part" is the list that
// was warmed up last, and "syncing" is there while a sync runs or after one was cut short.
// Thread-safe: files appear by rename.

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

  // Makes the directory. Its parent has to be there. One at a time for a directory.
  static Result<ListStore> open(const std::string& directory);

  // While the result lives, nothing of this job is removed: it is at work.
  [[nodiscard]] std::shared_ptr<void> hold(const std::string& job) const;

  bool whole(const std::string& job) const;
  Result<std::string> read(const std::string& job, std::int32_t partition) const;  // kNotFound
  Result<> write(const std::string& job, std::int32_t partition, const std::string& text) const;
  // All of them are there; older jobs' lists are removed.
  Result<> finish(const std::string& job) const;

  std::size_t done(const std::string& job) const;  // 0 when nothing is noted
  void note_done(const std::string& job, std::size_t pieces) const;

  Result<> write_part(const std::string& text) const;
  std::string part() const;  // empty when there is none

  // True: an earlier sync did not come to its end.
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
