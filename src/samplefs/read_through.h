// SPDX-License-Identifier: Apache-2.0
//
// Reads a block from the nearest place: the disk cache, memory, or the source. A miss downloads the
// whole block once for all concurrent readers and keeps it: in the store if there is room,
// otherwise for a short time in memory (so that a file that is read in pieces is not downloaded in
// pieces).
//
// A read is complete or an Error. A reader gives up at its deadline, also when another thread
// downloads; background downloads have no deadline. So neither inherits a failure of the other:
// when a download fails, a waiter of the other kind starts its own. A reader's failure is
// remembered for a short time (recent_failures.h).
//
// One budget (byte_budget.h) bounds all bytes of blocks in memory: those that are downloaded or
// read whole from the store, for readers, read-ahead and warm-up together, and those that are kept
// for a short time. Readers come first.
//
// Thread-safe. The store and the source or sources must outlive it.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <unordered_map>

#include "base/clock.h"
#include "base/result.h"
#include "base/sync.h"
#include "samplefs/block.h"
#include "samplefs/byte_budget.h"
#include "samplefs/recent_blocks.h"
#include "samplefs/recent_failures.h"
#include "samplefs/store/store.h"
#include "source/source.h"

namespace paddle::samplefs {

// Bytes that readers received, by where they came from, and all downloads.
struct ReadCounters {
  std::uint64_t from_cache = 0;   // bytes: disk cache
  std::uint64_t from_memory = 0;  // bytes: kept for a short time after a download
  std::uint64_t from_source = 0;  // bytes: the reader waited for a download
  std::uint64_t downloaded = 0;   // bytes: by readers, read-ahead and fill together
  std::uint64_t downloads = 0;
  std::uint64_t failures = 0;  // downloads that failed
};

// The sources of a set: reads an object of the origin that a block names. Thread-safe.
class Sources {
 public:
  virtual ~Sources() = default;
  // As source::Source::read().
  virtual Result<> read(const Block& block, std::span<std::byte> into,
                        const source::CallContext& context) = 0;
};

class ReadThrough {
 public:
  static constexpr std::size_t kRecentBytes = std::size_t{64} << 20;
  // Sixteen downloads of whole blocks, or hundreds of small samples, beside kRecentBytes.
  static constexpr std::uint64_t kBytesInFlight = std::uint64_t{128} << 20;

  // Without a store everything comes from the source. At most half of `in_flight` is kept for a
  // short time, so that the other half moves; it is at least four blocks.
  ReadThrough(Store* store, Sources& sources, std::size_t recent_bytes = kRecentBytes,
              const Clock& clock = system_clock(), std::uint64_t in_flight = kBytesInFlight)
      : store_(store),
        sources_(sources),
        clock_(clock),
        budget_(std::max(in_flight, 4 * kBlockSize), clock),
        recent_(std::min<std::size_t>(recent_bytes, budget_.limit() / 2)),
        recent_failures_(clock) {}
  // For a set with one source.
  ReadThrough(Store* store, source::Source& source, std::size_t recent_bytes = kRecentBytes,
              const Clock& clock = system_clock(), std::uint64_t in_flight = kBytesInFlight);

  // Reads without waiting. False: only the source has the bytes; an Error: a download failed a
  // moment ago. REQUIRES: a range within the block.
  Result<bool> read_local(const Block& block, std::uint64_t offset, std::span<std::byte> into);

  // Reads and waits for the source if necessary. REQUIRES: a range within the block.
  Result<> read(const Block& block, std::uint64_t offset, std::span<std::byte> into,
                const source::CallContext& context);

  // Downloads ahead of a reader: into the store or, without room, into memory.
  Result<> fetch_ahead(const Block& block, const std::stop_token& stop);

  // Downloads into the store only: never downloads a block that would not be kept.
  enum class Filled { kPresent, kDownloaded, kNoRoom };
  Result<Filled> fill(const Block& block, const std::stop_token& stop);

  // Returns when no reader waits for the source, or when stopped.
  void wait_for_readers(const std::stop_token& stop) EXCLUDES(mutex_);

  // The number of the store's tier that holds the block, from 0; nothing: none does.
  std::optional<std::uint32_t> tier_of(const Block& block) const;

  ReadCounters counters() const;
  const ByteBudget& budget() const { return budget_; }
  // For others that hold blocks of the set in memory.
  ByteBudget& budget() { return budget_; }

 private:
  struct Flight;
  enum class Requester { kReader, kAhead, kFiller };

  Result<Bytes> fetch(const Block& block, Requester requester, const source::CallContext& context)
      EXCLUDES(mutex_);
  Result<Bytes> lead(const Block& block, Flight& flight, Requester requester, ByteBudget::Hold hold,
                     const source::CallContext& context) EXCLUDES(mutex_);
  // Holds the bytes of the block: in the store, or at the source.
  Result<Bytes> obtain(const Block& block, ByteBudget::Hold hold,
                       const source::CallContext& context);

  const std::unique_ptr<Sources> only_;  // set by the constructor for one source
  Store* const store_;
  Sources& sources_;
  const Clock& clock_;

  ByteBudget budget_;               // self-synchronised; before what holds bytes of it
  RecentBlocks recent_;             // self-synchronised
  RecentFailures recent_failures_;  // self-synchronised; of readers
  std::atomic<std::uint64_t> from_cache_ = 0;
  std::atomic<std::uint64_t> from_memory_ = 0;
  std::atomic<std::uint64_t> from_source_ = 0;
  std::atomic<std::uint64_t> downloaded_ = 0;
  std::atomic<std::uint64_t> downloads_ = 0;
  std::atomic<std::uint64_t> failures_ = 0;

  Mutex mutex_;  // not held while anything is read or written
  CondVar readers_done_;
  int readers_ GUARDED_BY(mutex_) = 0;  // waiting for the source
  std::unordered_map<BlockKey, std::shared_ptr<Flight>, BlockKeyHash> flights_ GUARDED_BY(mutex_);
};

}  // namespace paddle::samplefs
