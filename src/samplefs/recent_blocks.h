// SPDX-License-Identifier: Apache-2.0
//
// An LRU cache in memory for downloaded blocks that did not fit into the store. They keep their
// part of the byte budget, so the limit must leave room for others. Thread-safe.

#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/sync.h"
#include "samplefs/block.h"
#include "samplefs/byte_budget.h"
#include "samplefs/store/aligned_bytes.h"

namespace paddle::samplefs {

// Shared by all readers; not zeroed before it is filled. Aligned, so that a store writes it without
// a copy.
struct BlockBytes {
  explicit BlockBytes(std::size_t length, ByteBudget::Hold of = {})
      : data(aligned_bytes(length)), size(length), hold(std::move(of)) {}
  const AlignedBytes data;
  const std::size_t size;
  const ByteBudget::Hold hold;  // of the bytes in memory
};
using Bytes = std::shared_ptr<const BlockBytes>;

class RecentBlocks {
 public:
  explicit RecentBlocks(std::size_t limit) : limit_(limit) {}

  Bytes find(const BlockKey& key) EXCLUDES(mutex_);  // null: not cached
  void add(const BlockKey& key, Bytes bytes) EXCLUDES(mutex_);

 private:
  using Order = std::list<std::pair<BlockKey, Bytes>>;

  const std::size_t limit_;
  Mutex mutex_;
  Order order_ GUARDED_BY(mutex_);  // the latest in front
  std::unordered_map<BlockKey, Order::iterator, BlockKeyHash> places_ GUARDED_BY(mutex_);
  std::size_t used_ GUARDED_BY(mutex_) = 0;
};

}  // namespace paddle::samplefs
