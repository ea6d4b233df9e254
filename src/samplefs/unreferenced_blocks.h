// SPDX-License-Identifier: Apache-2.0
//
// Of the blocks that a store has, those that nobody needs. Takes as much memory as there are blocks
// in the store; how large the files are that need them does not matter. Pure.

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
  // All files of an index, or those that `which` takes.
  void needs(const Index& index, const std::function<bool(Index::Position)>& which = {});
  std::vector<BlockKey> rest() const;

 private:
  const std::vector<BlockKey> stored_;
  std::vector<bool> needed_;
  std::size_t count_ = 0;  // needed ones
};

}  // namespace paddle::samplefs
