// SPDX-License-Identifier: Apache-2.0
//
// Jobs on disk: one file per job, `<id>.json`, mode 0600 in a directory of mode 0700, replaced
// atomically (temporary file, fsync, rename). Damaged files are logged and left alone; temporary
// files of an interrupted write are removed. Beside it `<id>.starts`, one byte for each start of a
// job that has not ended since, also of a job that is not written. One writer.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "runtime/server/job_table.h"

namespace paddle::runtime {

class Journal {
 public:
  // Creates the directory if needed, not its parent. kUnavailable: it cannot be used.
  static Result<std::unique_ptr<Journal>> open(const std::string& directory);

  Result<std::vector<Job>> load() const;
  Result<> write(const Job& job) const;
  void remove(const std::string& id) const;

  // Counts a start of a job, and returns how many there are since forget_starts(): the one before
  // ended with its process. Survives a kill; a power failure may lose it.
  Result<std::int64_t> count_start(const std::string& id) const;
  void forget_starts(const std::string& id) const;

 private:
  explicit Journal(UniqueFd directory) : directory_(std::move(directory)) {}

  const UniqueFd directory_;
};

}  // namespace paddle::runtime
