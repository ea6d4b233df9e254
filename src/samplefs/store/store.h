// SPDX-License-Identifier: Apache-2.0
//
// The disk cache of one node: blocks in tiers (tier.h), in the order given. A block is stored in
// the first tier that has room for it, and found in any. Nothing moves between tiers, and nothing
// is evicted.
//
// The cache never fails: a read is a hit or a miss, a put stores the block or does not. A tier
// whose disk fails serves what it can; one whose directory was removed or emptied begins again.
//
// A thread of the store syncs what was stored (within a second, or when 64 MiB wait), counts blocks
// after the start, frees space, and scrubs: it reads stored blocks one after the other, at a given
// rate, to find damage.
//
// Segments of a sealed view: locate() says where blocks lie, seal() keeps their bytes until
// unseal(), also when the blocks are dropped. A block may be dropped between the two: call locate()
// again once its segment is sealed. Seals are counted and end with the process; the immutable flag
// of the files goes on, and what it refuses is freed later.
//
// Thread-safe.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/sync.h"
#include "samplefs/block.h"
#include "samplefs/store/disk_files.h"
#include "samplefs/store/store_stats.h"
#include "samplefs/store/tier.h"

namespace paddle::samplefs {

class Store {
 public:
  // Of the scrub, a second: a terabyte in a day and a half.
  static constexpr std::uint64_t kScrubRate = std::uint64_t{8} << 20;

  // kConflict when another process owns a tier, kUnavailable when a directory cannot be used.
  static Result<std::unique_ptr<Store>> open(std::vector<TierOptions> tiers,
                                             const Clock& clock = system_clock(),
                                             FileLayer& files = disk_files());
  static Result<std::unique_ptr<Store>> open(TierOptions tier, const Clock& clock = system_clock(),
                                             FileLayer& files = disk_files());
  ~Store();  // syncs

  // True: `into` was filled with the bytes of the block from `offset` on; otherwise its contents
  // are undefined. REQUIRES: a range within the block.
  bool read(const Block& block, std::uint64_t offset, std::span<std::byte> into) EXCLUDES(mutex_);
  bool holds(const Block& block) const EXCLUDES(mutex_);
  // Reads the whole block as read() does, but tells a block that is not stored from one whose bytes
  // were damaged or unreadable; the latter is dropped and counted as by read(). Absent: not stored.
  // REQUIRES: into.size() == block.length.
  std::optional<ExtentState> check(const Block& block, std::span<std::byte> into) EXCLUDES(mutex_);
  bool has_room(const Block& block) const EXCLUDES(mutex_);

  // REQUIRES: data.size() == block.length. True: it is in the store.
  bool put(const Block& block, std::span<const std::byte> data) EXCLUDES(mutex_);

  // The keys of all blocks, sorted.
  std::vector<BlockKey> keys() const EXCLUDES(mutex_);
  // Removes blocks that a new index no longer references.
  void drop_all(const std::vector<BlockKey>& keys) EXCLUDES(mutex_);
  void clear() EXCLUDES(mutex_) { drop_all(keys()); }

  // All blocks stored before survive a power failure when this succeeds.
  Result<> flush() EXCLUDES(mutex_, upkeep_mutex_);

  // Nothing: it is not stored. Call flush() before the extent is used without the store.
  std::optional<Extent> locate(const Block& block) const EXCLUDES(mutex_);
  std::string path_of(SegmentId segment) const EXCLUDES(mutex_);
  void seal(std::span<const SegmentId> segments) EXCLUDES(mutex_);
  void unseal(std::span<const SegmentId> segments) EXCLUDES(mutex_);

  // Bytes a second that the scrub reads; 0: it does not run.
  void set_scrub_rate(std::uint64_t rate) EXCLUDES(upkeep_mutex_);

  StoreStats stats() const EXCLUDES(mutex_);

  // What the store's thread does each second.
  void upkeep() EXCLUDES(mutex_, upkeep_mutex_);

 private:
  using Tiers = std::vector<std::shared_ptr<Tier>>;

  Store(Tiers tiers, const Clock& clock, FileLayer& files);
  Tiers tiers() const EXCLUDES(mutex_);
  std::shared_ptr<Tier> tier(std::uint32_t number) const EXCLUDES(mutex_);
  void keep_up(const std::stop_token& stop) EXCLUDES(mutex_, upkeep_mutex_);
  void begin_again(std::size_t number) EXCLUDES(mutex_);
  void scrub_some() EXCLUDES(mutex_) REQUIRES(upkeep_mutex_);

  const Clock& clock_;
  FileLayer& files_;
  std::atomic<std::uint64_t> scrubbed_ = 0;

  Mutex upkeep_mutex_;  // before mutex_; held while tiers are synced
  struct Scrub {
    std::size_t tier = 0;
    std::uint64_t slot = 0;
    std::uint64_t rate = kScrubRate;
    std::int64_t allowed = kScrubRate;  // bytes that may be read now; less than 0: read already
    BootTime counted{};                 // until when `allowed` has grown
  };
  Scrub scrub_ GUARDED_BY(upkeep_mutex_){};
  std::uint64_t rounds_ GUARDED_BY(upkeep_mutex_) = 0;

  mutable Mutex mutex_;  // not held across I/O
  Tiers tiers_ GUARDED_BY(mutex_);
  CondVar wake_;
  bool urgent_ GUARDED_BY(mutex_) = false;
  std::string notice_ GUARDED_BY(mutex_){};

  std::jthread thread_;  // last: it uses the rest
};

}  // namespace paddle::samplefs
