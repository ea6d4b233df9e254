// SPDX-License-Identifier: Apache-2.0
//
// The generation that was last announced to each mount: its digest, by the name of the mount.
// Stored in a file, because a kernel keeps names and listings longer than the process that served
// them lives: the next process has to invalidate what differs from its generation.
//
// For a mount that is not in the file, everything is invalidated. So a lost entry or an unreadable
// file costs time but never shows old names.
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
