// SPDX-License-Identifier: Apache-2.0
//
// Page-aligned buffers for replies to READ and READDIR, so that a file system may fill them with
// O_DIRECT. All have the same size. The pool keeps a few between requests; it maps more on demand
// and unmaps them when they come back. A page of a buffer costs memory only once it has been
// written to. Thread-safe; the pool outlives its leases.

#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/sync.h"

namespace paddle::fuse {

class BufferPool {
 public:
  class Lease {
   public:
    Lease() = default;
    Lease(BufferPool* pool, std::byte* start) : pool_(pool), start_(start) {}
    Lease(Lease&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)),
          start_(std::exchange(other.start_, nullptr)) {}
    Lease& operator=(Lease&& other) noexcept {
      std::swap(pool_, other.pool_);
      std::swap(start_, other.start_);
      return *this;
    }
    ~Lease() {
      if (start_ != nullptr) pool_->give_back(start_);
    }
    explicit operator bool() const { return start_ != nullptr; }
    std::byte* data() const { return start_; }

   private:
    BufferPool* pool_ = nullptr;
    std::byte* start_ = nullptr;
  };

  // Rounded up to whole pages.
  BufferPool(std::size_t buffer_size, std::size_t keep);
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  std::size_t buffer_size() const { return size_; }
  Lease lend();  // empty when the machine has no memory for one more

 private:
  void give_back(std::byte* start);

  const std::size_t size_;
  const std::size_t keep_;
  Mutex mutex_;
  std::vector<std::byte*> free_ GUARDED_BY(mutex_);
};

}  // namespace paddle::fuse
