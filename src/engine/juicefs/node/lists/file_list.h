// SPDX-License-Identifier: Apache-2.0
//
// The files of a mounted volume, as paths relative to its root. Hidden files and directories are
// left out: they are JuiceFS's own, or of interrupted syncs.

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

// The files at and beneath which.paths (none: all), or those that which.file lists; sorted by whole
// paths, each once. `found` is called with their number from time to time. kNotFound names a path
// that the set does not have.
Result<std::vector<std::string>> list_files(const std::string& mount, const Selection& which,
                                            const std::function<void(std::size_t)>& found,
                                            std::stop_token stop);

// How many files of a list exist.
struct Presence {
  std::int64_t files = 0;      // regular files
  std::int64_t absent = 0;     // paths that do not exist
  std::string first_absent{};  // in the order of the list
};
Result<Presence> count_present(const std::string& mount, const std::vector<std::string>& files,
                               const std::stop_token& stop);
// How many their directories name. A directory is read from the metadata, while stat() and open()
// show a file that another node has removed for as long as the client keeps its attributes.
Result<std::int64_t> count_listed(const std::string& mount, const std::vector<std::string>& files,
                                  const std::stop_token& stop);

// Files that a killed `juicefs sync` left behind (leftovers.h), last written before `before`.
Result<std::vector<std::string>> list_leftovers(const std::string& mount, WallTime before,
                                                std::stop_token stop);

}  // namespace paddle::engine::juicefs
