// SPDX-License-Identifier: Apache-2.0
#include "samplefs/unreferenced_blocks.h"

#include <algorithm>

namespace paddle::samplefs {

UnreferencedBlocks::UnreferencedBlocks(std::vector<BlockKey> stored)
    : stored_(std::move(stored)), needed_(stored_.size()) {}

void UnreferencedBlocks::needs(const BlockKey& key) {
  const auto found = std::lower_bound(stored_.begin(), stored_.end(), key);
  if (found == stored_.end() || *found != key) return;
  const auto at = static_cast<std::size_t>(found - stored_.begin());
  if (needed_[at]) return;
  needed_[at] = true;
  ++count_;
}

void UnreferencedBlocks::needs(const Index& index,
                               const std::function<bool(Index::Position)>& which) {
  for (Index::Position position = 0; position < index.size(); ++position) {
    if (count_ == stored_.size()) return;  // all blocks are marked already
    const auto entry = index.at(position);
    if (entry.directory || (which && !which(position))) continue;
    const std::string path = index.path_of(position);
    for (std::uint64_t at = 0; at < entry.size && count_ < stored_.size(); at += kBlockSize) {
      needs(index.block(entry, path, at).key);
    }
  }
}

std::vector<BlockKey> UnreferencedBlocks::rest() const {
  std::vector<BlockKey> rest;
  for (std::size_t i = 0; i < stored_.size(); ++i) {
    if (!needed_[i]) rest.push_back(stored_[i]);
  }
  return rest;
}

}  // namespace paddle::samplefs
