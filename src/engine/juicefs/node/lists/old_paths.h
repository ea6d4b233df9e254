// SPDX-License-Identifier: Apache-2.0
//
// What a removal removes: everything at and beneath a path that existed when the removal was
// accepted. A removal that is run again later leaves newer files alone.

#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace paddle::engine::juicefs {

struct OldPaths {
  std::vector<std::string> paths{};  // as few as possible: a directory stands for its contents
  std::int64_t younger = 0;          // files that are newer
};

// `path` is relative to the mount. The time of a file is its ctime: a sync sets its mtime to that
// of the source. kNotFound: there is no such path.
Result<OldPaths> paths_older_than(const std::string& mount, const std::string& path, WallTime limit,
                                  const std::stop_token& stop);

// The limit of a removal that was accepted at this time (Selection::accepted). Kubernetes stores
// whole seconds, so files of the same second count as older.
WallTime removal_limit(std::int64_t accepted);

}  // namespace paddle::engine::juicefs
