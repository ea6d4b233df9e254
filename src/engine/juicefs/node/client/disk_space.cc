// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/client/disk_space.h"

#include <set>

#include <sys/stat.h>
#include <sys/statvfs.h>

namespace paddle::engine::juicefs {

DiskSpace space_of(const std::vector<std::string>& directories) {
  DiskSpace all;
  std::set<dev_t> counted;
  for (const auto& directory : directories) {
    struct stat where {};
    struct statvfs seen {};
    if (::stat(directory.c_str(), &where) != 0 || ::statvfs(directory.c_str(), &seen) != 0)
      continue;
    if (!counted.insert(where.st_dev).second) continue;
    const auto bytes = [&](fsblkcnt_t blocks) {
      return static_cast<std::int64_t>(blocks * seen.f_frsize);
    };
    all.size += bytes(seen.f_blocks);
    all.used += bytes(seen.f_blocks - seen.f_bfree);
    all.avail += bytes(seen.f_bavail);
  }
  return all;
}

}  // namespace paddle::engine::juicefs
