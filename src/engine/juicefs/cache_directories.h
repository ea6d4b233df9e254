// SPDX-License-Identifier: Apache-2.0
//
// Which directories of nodes may hold a cache. A cache directory is mounted from its node into
// pods that write to it, so it must never be one of the system's own. Pure: links that a node has
// are not seen; `roots` is for administrators who want to be sure.

#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace paddle::engine::juicefs {

// kInvalid: one sentence. `roots`: only beneath these, when there are any.
Result<> check_directory(const std::string& path, const std::vector<std::string>& roots);

bool is_in_memory(const std::string& path);  // beneath /dev/shm

// "/a:/b" -> {"/a", "/b"}; slashes at the end are dropped.
std::vector<std::string> split_directories(const std::string& text);

}  // namespace paddle::engine::juicefs
