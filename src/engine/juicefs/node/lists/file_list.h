// SPDX-License-Identifier: Apache-2.0
//
// The files of a mounted volume, as paths relative to its root. Hidden files and directories are
// left out: JuiceFS's own, and those of syncs that were cut short.

#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "engine/node_engine.h"

namespace paddle::engine::juicefs {

// Those at and beneath which.paths (none: all), or those that which.file lists; in the order of
// whole paths, each once. `found` hears how many there are from time to time. kNotFound names a
// path that the set does not have.
Result<std::vector<std::string>> list_files(const std::string& mount, const Selection& which,
                                            const std::function<void(std::size_t)>& found,
                                            std::stop_token stop);

// What there is now of files of a list.
struct Presence {
  std::int64_t files = 0;      // regular ones
  std::int64_t absent = 0;     // neither they nor anything else under that name
  std::string first_absent{};  // in the order of the list
};
Result<Presence> count_present(const std::string& mount, const std::vector<std::string>& files,
                               const std::stop_token& stop);

// What a `juicefs sync` that was killed left behind (leftovers.h) and nobody has written to since
// `before`.
Result<std::vector<std::string>> list_leftovers(const std::string& mount, WallTime before,
                                                std::stop_token stop);

}  // namespace paddle::engine::juicefs
