// SPDX-License-Identifier: Apache-2.0
#include "samplefs/recent_blocks.h"

namespace paddle::samplefs {

Bytes RecentBlocks::find(const BlockKey& key) {
  Lock lock(mutex_);
  const auto found = places_.find(key);
  if (found == places_.end()) return nullptr;
  order_.splice(order_.begin(), order_, found->second);
  return found->second->second;
}

void RecentBlocks::add(const BlockKey& key, Bytes bytes) {
  if (bytes->size > limit_) return;
  Order gone;  // freed after the lock is
  Lock lock(mutex_);
  if (places_.contains(key)) return;
  used_ += bytes->size;
  order_.emplace_front(key, std::move(bytes));
  places_[key] = order_.begin();
  while (used_ > limit_) {
    used_ -= order_.back().second->size;
    places_.erase(order_.back().first);
    gone.splice(gone.begin(), order_, std::prev(order_.end()));
  }
}

}  // namespace paddle::samplefs
