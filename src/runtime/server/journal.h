// SPDX-License-Identifier: Apache-2.0
//
// Jobs on disk: one file per job, `<id>.json`, 0600 in a directory of 0700, replaced whole (written
// beside, synced, renamed). What is damaged or not ours is left alone and said once; what was cut
// short while it was written is removed. One writer.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "runtime/server/job_table.h"

namespace paddle::runtime {

class Journal {
 public:
  // The directory is made when missing, its parent is not. kUnavailable when it can not be used.
  static Result<std::unique_ptr<Journal>> open(const std::string& directory);

  Result<std::vector<Job>> load() const;
  Result<> write(const Job& job) const;
  void remove(const std::string& id) const;

 private:
  explicit Journal(UniqueFd directory) : directory_(std::move(directory)) {}

  const UniqueFd directory_;
};

}  // namespace paddle::runtime
