// SPDX-License-Identifier: Apache-2.0
//
// The folders and file names of a store (drawn in store.h).

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

// The temporary file becomes the block, whole. 0 or an errno.
int publish_block(int root, const std::string& temporary, const BlockKey& key);

// Each block found; false removes it. Files with other names are left alone.
using BlockVisitor = std::function<bool(const BlockKey& key, std::uint64_t size)>;
Result<> for_each_block(int root, const BlockVisitor& visit);

}  // namespace paddle::samplefs
