// SPDX-License-Identifier: Apache-2.0
//
// Which generation each mount was told of last: its digest, by the name of the mount. Kept in a
// file, because a kernel remembers names and listings longer than the process that gave them lives:
// a successor that knows of another generation has to tell it the difference.
//
// What is not in the file is not known, and the mount is to be told everything. So a note that was
// lost, or a file that cannot be read, costs time and never shows old names.
//
// Thread-safe.

#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/sync.h"

namespace paddle::engine::samplefs {

class AnnouncedGenerations {
 public:
  explicit AnnouncedGenerations(std::string file);

  std::optional<std::string> of(const std::string& mount) const EXCLUDES(mutex_);
  void note(const std::string& mount, const std::string& digest) EXCLUDES(mutex_);
  void drop(const std::string& mount) EXCLUDES(mutex_);

 private:
  void write() const REQUIRES(mutex_);

  const std::string file_;
  mutable Mutex mutex_;
  std::map<std::string, std::string> digests_ GUARDED_BY(mutex_);
};

}  // namespace paddle::engine::samplefs
