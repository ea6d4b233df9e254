// SPDX-License-Identifier: Apache-2.0
//
// Directories and file names of a store (layout in store.h).

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "samplefs/block.h"

namespace paddle::samplefs {

struct StoreFolders {
  UniqueFd root{};
  UniqueFd lock{};  // held while open
};

// Creates what is missing, takes the lock, empties tmp.1.
Result<StoreFolders> open_store_folders(const std::string& directory);

std::string block_file(const BlockKey& key);  // relative to the root
std::string temporary_file(std::uint64_t number);

// Renames the temporary file to the block. Returns 0 or an errno.
int publish_block(int root, const std::string& temporary, const BlockKey& key);

// Calls `visit` for each block; false removes it. Other files are not touched.
using BlockVisitor = std::function<bool(const BlockKey& key, std::uint64_t size)>;
Result<> for_each_block(int root, const BlockVisitor& visit);

}  // namespace paddle::samplefs
