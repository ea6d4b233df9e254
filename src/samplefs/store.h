// SPDX-License-Identifier: Apache-2.0
//
// The disk cache of one node: blocks (block_format.h) in one directory, one tier, with a hard limit
// on the space they use (whole pages, trailers included).
//
//   lock               held by the process that owns the store
//   blocks.1/ab/abcd…  one file per block, named by its key
//   tmp.1/             files being written; emptied at start
//
// - A block appears atomically (temporary file, rename). It is not synced by default: after a power
//   failure a block may be damaged, and a damaged block is a miss.
// - Each block is verified when it is first served after a start; later reads go directly to the
//   file. A block that fails is dropped and counted; so is one that cannot be opened (it belongs to
//   another user, the disk fails), unless this process has too many open files or no memory.
// - When the limit is reached or the disk is full, no block is admitted and none is evicted: for a
//   shuffled scan any fixed part of the set is as good as another.
// - Reads leave no second copy in the page cache if the kernel supports it (RWF_DONTCACHE).
//
// The cache never fails: a read is a hit or a miss, a put stores the block or does not.
// Thread-safe.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/sync.h"
#include "base/unique_fd.h"
#include "samplefs/block.h"

namespace paddle::samplefs {

struct StoreOptions {
  std::string directory{};  // created when missing, mode 0700
  std::uint64_t limit = 0;  // bytes
  bool sync = false;        // fsync each block: survives power failure, slower
};

struct StoreStats {
  std::uint64_t limit = 0;
  std::uint64_t used = 0;
  std::uint64_t blocks = 0;
  std::uint64_t bytes_served = 0;
  std::uint64_t bytes_stored = 0;  // since start
  std::uint64_t refused = 0;       // no room
  std::uint64_t damaged = 0;       // dropped instead of served
  std::uint64_t unreadable = 0;    // dropped because they could not be opened
  int unreadable_errno = 0;        // errno of the last of them
  std::uint64_t write_failures = 0;
};

// Whether the stored bytes will soon be read from the store.
enum class ReadBack { kExpected, kUnlikely };

class Store {
 public:
  // kConflict when another process owns it, kUnavailable when the directory cannot be used.
  static Result<std::unique_ptr<Store>> open(StoreOptions options,
                                             const Clock& clock = system_clock());

  // True: `into` was filled with the bytes of the block from `offset` on. REQUIRES: a range within
  // the block.
  bool read(const Block& block, std::uint64_t offset, std::span<std::byte> into) EXCLUDES(mutex_);
  bool holds(const Block& block) const EXCLUDES(mutex_);
  bool has_room(const Block& block) const EXCLUDES(mutex_);

  // REQUIRES: data.size() == block.length. True: it is in the store.
  bool put(const Block& block, std::span<const std::byte> data, ReadBack read_back)
      EXCLUDES(mutex_);

  // The keys of all blocks, sorted.
  std::vector<BlockKey> keys() const EXCLUDES(mutex_);
  // Removes blocks that a new index no longer references.
  void drop_all(const std::vector<BlockKey>& keys) EXCLUDES(mutex_);
  void clear() EXCLUDES(mutex_) { drop_all(keys()); }

  StoreStats stats() const EXCLUDES(mutex_);

 private:
  // One file has one state at a time, so that no two threads write or remove under one name.
  enum class State : std::uint8_t { kArriving, kPresent, kLeaving };
  struct Slot {
    std::uint32_t serial = 0;  // distinguishes slots of the same block over time
    std::uint32_t size = 0;    // of the file
    State state = State::kArriving;
    bool verified = false;       // since this process started
    bool in_page_cache = false;  // written, not yet read back
  };
  using Slots = std::unordered_map<BlockKey, Slot, BlockKeyHash>;

  Store(StoreOptions options, UniqueFd root, UniqueFd lock, const Clock& clock);

  Result<> scan() EXCLUDES(mutex_);
  enum class Admission { kMayWrite, kThere, kRefused };
  Admission admit(const Block& block) EXCLUDES(mutex_);
  bool has_room_locked(const Block& block) const REQUIRES(mutex_);
  Result<> write_file(const Block& block, std::span<const std::byte> data, ReadBack read_back);
  bool read_verifying(int fd, const Block& block, std::uint64_t offset, std::span<std::byte> into);
  void drop_unreadable(const Block& block, std::uint32_t serial, int number) EXCLUDES(mutex_);
  // Serial 0 matches any slot. False: the block is absent, or its slot has another serial.
  bool drop(const BlockKey& key, std::uint32_t serial) EXCLUDES(mutex_);

  const StoreOptions options_;
  const UniqueFd root_;
  const UniqueFd lock_;
  const Clock& clock_;

  std::atomic<std::uint64_t> bytes_served_ = 0;
  std::atomic<std::uint64_t> damaged_ = 0;
  std::atomic<std::uint64_t> unreadable_ = 0;
  std::atomic<int> unreadable_errno_ = 0;
  std::atomic<std::uint64_t> temporary_ = 0;

  mutable Mutex mutex_;  // innermost; never held across I/O
  Slots slots_ GUARDED_BY(mutex_);
  std::uint32_t serials_ GUARDED_BY(mutex_) = 0;
  std::uint64_t used_ GUARDED_BY(mutex_) = 0;  // includes blocks being written
  std::uint64_t bytes_stored_ GUARDED_BY(mutex_) = 0;
  std::uint64_t refused_ GUARDED_BY(mutex_) = 0;
  std::uint64_t write_failures_ GUARDED_BY(mutex_) = 0;
  BootTime disk_full_until_ GUARDED_BY(mutex_){};
};

}  // namespace paddle::samplefs
