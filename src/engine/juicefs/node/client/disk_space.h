// SPDX-License-Identifier: Apache-2.0
//
// The space of the file systems of some directories, each counted once.

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

// Directories that do not exist are ignored.
DiskSpace space_of(const std::vector<std::string>& directories);

}  // namespace paddle::engine::juicefs
