// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/announced_generations.h"

#include <filesystem>
#include <fstream>

#include "base/log.h"

namespace paddle::engine::samplefs {

// A line is a digest, a space and a name, which has no line end (fuse/attach.h).
AnnouncedGenerations::AnnouncedGenerations(std::string file) : file_(std::move(file)) {
  std::ifstream lines(file_);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = line.find(' ');
    if (space != std::string::npos) digests_[line.substr(space + 1)] = line.substr(0, space);
  }
}

std::optional<std::string> AnnouncedGenerations::of(const std::string& mount) const {
  Lock lock(mutex_);
  const auto found = digests_.find(mount);
  if (found == digests_.end()) return std::nullopt;
  return found->second;
}

void AnnouncedGenerations::note(const std::string& mount, const std::string& digest) {
  Lock lock(mutex_);
  std::string& known = digests_[mount];
  if (known == digest) return;
  known = digest;
  write();
}

void AnnouncedGenerations::drop(const std::string& mount) {
  Lock lock(mutex_);
  if (digests_.erase(mount) > 0) write();
}

// Not synced to the disk: whatever loses the page cache ends the mounts, too.
void AnnouncedGenerations::write() const {
  const std::string early = file_ + ".tmp";
  std::error_code failed;
  {
    std::ofstream out(early, std::ios::trunc);
    for (const auto& [mount, digest] : digests_) out << digest << ' ' << mount << '\n';
    out.close();
    if (out) {
      std::filesystem::rename(early, file_, failed);
      if (!failed) return;
    }
  }
  // An outdated file would be trusted; a missing one is not.
  std::filesystem::remove(file_, failed);
  log::warn("cannot store what was announced to mounts; the next process invalidates everything",
            {{"file", file_}});
}

}  // namespace paddle::engine::samplefs
