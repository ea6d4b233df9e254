// SPDX-License-Identifier: Apache-2.0
#include "fuse/buffer_pool.h"

#include <sys/mman.h>

namespace paddle::fuse {

BufferPool::BufferPool(std::size_t buffer_size, std::size_t keep)
    : size_((buffer_size + 4095) / 4096 * 4096), keep_(keep) {
  Lock lock(mutex_);
  free_.reserve(keep_);
}

BufferPool::~BufferPool() {
  Lock lock(mutex_);
  for (std::byte* start : free_) ::munmap(start, size_);
}

BufferPool::Lease BufferPool::lend() {
  {
    Lock lock(mutex_);
    if (!free_.empty()) {
      std::byte* start = free_.back();
      free_.pop_back();
      return {this, start};
    }
  }
  void* mapped = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return {};
  return {this, static_cast<std::byte*>(mapped)};
}

void BufferPool::give_back(std::byte* start) {
  {
    Lock lock(mutex_);
    if (free_.size() < keep_) {
      free_.push_back(start);
      return;
    }
  }
  ::munmap(start, size_);
}

}  // namespace paddle::fuse
