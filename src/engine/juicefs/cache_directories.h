// SPDX-License-Identifier: Apache-2.0
//
// Which directories of nodes may hold a cache. Pods mount a cache directory from their node and
// write to it, so it must not be one of the system's own. Pure: links on the nodes are not seen, so
// administrators can restrict caches to `roots`.

#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace paddle::engine::juicefs {

// `roots`: if not empty, the path must be beneath one of them. kInvalid: one sentence.
Result<> check_directory(const std::string& path, const std::vector<std::string>& roots);

bool is_in_memory(const std::string& path);  // beneath /dev/shm

// "/a:/b/" -> {"/a", "/b"}
std::vector<std::string> split_directories(const std::string& text);

}  // namespace paddle::engine::juicefs
