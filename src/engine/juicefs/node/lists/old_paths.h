// SPDX-License-Identifier: Apache-2.0
//
// What a removal takes away: everything at and beneath a path that was there when it was asked for.
// A removal that is run again, by whoever and however late, leaves what has come since.

#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace paddle::engine::juicefs {

struct OldPaths {
  std::vector<std::string> paths{};  // as few as possible: a directory stands for all beneath
  std::int64_t younger = 0;          // files that stay
};

// `path` is relative to the mount. The time of a file is that of its last change (ctime): a sync
// gives it the source's time of writing. kNotFound: there is no such path.
Result<OldPaths> paths_older_than(const std::string& mount, const std::string& path, WallTime limit,
                                  const std::stop_token& stop);

// The limit for a removal that was accepted then (Selection::accepted): it is told in whole
// seconds, and whatever came within that second may have come before.
WallTime removal_limit(std::int64_t accepted);

}  // namespace paddle::engine::juicefs
