// SPDX-License-Identifier: Apache-2.0
//
// Which directories of nodes may hold a cache. JuiceFS's mount pods, which are privileged, write to
// them, so they must be beneath `roots`, which the administrator chooses, and none of the system's
// own. Each set has a directory of its own there. Pure: links on the nodes are not seen.

#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace paddle::engine::juicefs {

// The path must be beneath one of `roots`. kInvalid: one sentence.
Result<> check_directory(const std::string& path, const std::vector<std::string>& roots);

bool is_in_memory(const std::string& path);  // beneath /dev/shm

// "/a:/b/" -> {"/a", "/b"}
std::vector<std::string> split_directories(const std::string& text);

}  // namespace paddle::engine::juicefs
