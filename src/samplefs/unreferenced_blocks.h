// SPDX-License-Identifier: Apache-2.0
//
// Finds the blocks of a store that no index references. Memory is proportional to the number of
// blocks in the store, not to the size of the files. Pure.

#pragma once

#include <functional>
#include <vector>

#include "samplefs/block.h"
#include "samplefs/index.h"

namespace paddle::samplefs {

class UnreferencedBlocks {
 public:
  explicit UnreferencedBlocks(std::vector<BlockKey> stored);  // sorted

  void needs(const BlockKey& key);
  // Marks the blocks of all files of an index, or of those for which `which` returns true.
  void needs(const Index& index, const std::function<bool(Index::Position)>& which = {});
  std::vector<BlockKey> rest() const;

 private:
  const std::vector<BlockKey> stored_;
  std::vector<bool> needed_;
  std::size_t count_ = 0;  // needed ones
};

}  // namespace paddle::samplefs
