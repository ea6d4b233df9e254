// SPDX-License-Identifier: Apache-2.0
//
// How full the file systems beneath some directories are, each counted once.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace paddle::engine::juicefs {

struct DiskSpace {
  std::int64_t size = 0;
  std::int64_t used = 0;
  std::int64_t avail = 0;
  bool operator==(const DiskSpace&) const = default;
};

// Directories that are not there count for nothing.
DiskSpace space_of(const std::vector<std::string>& directories);

}  // namespace paddle::engine::juicefs
