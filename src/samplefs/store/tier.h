// SPDX-License-Identifier: Apache-2.0
//
// One directory of a store (drawing in format.h): a slot table and segments, with a hard limit on
// the space of both, and a share of the disk that stays free.
//
// - put() writes the data, then an unsynced slot: the block is served at once, and also after a
//   kill. maintain() syncs the data, then makes the slots synced: only such a block is served after
//   a power failure.
// - Every byte is verified each time it is read. A block that fails is dropped and counted; so is
//   one that the disk cannot read.
// - When the limit is reached, no block is admitted and none is evicted: for a shuffled scan any
//   fixed part of a set is as good as another.
// - When the disk refuses writes, or several reads in a row, what is stored is served further, and
//   writing is tried again after a pause; stats() has a sentence about it. Without the pause, what
//   cannot be read again would be downloaded for each reader.
// - open() reads the header only. Blocks are counted, a smaller limit is enforced and space that a
//   killed process lost is freed by maintain() (at once when the table is small).
//
// Thread-safe; maintain() and flush() are called by one thread at a time.

#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/sync.h"
#include "samplefs/block.h"
#include "samplefs/store/extent_io.h"
#include "samplefs/store/file_layer.h"
#include "samplefs/store/format.h"
#include "samplefs/store/segments.h"
#include "samplefs/store/slot_table.h"
#include "samplefs/store/store_stats.h"

namespace paddle::samplefs {

struct TierOptions {
  std::string directory{};          // created when missing, mode 0700
  std::uint64_t limit = 0;          // bytes
  double keep_free = 0;             // share of the disk, 0 to 1
  std::uint64_t segment_bytes = 0;  // 0: chosen by the limit
};

class Tier {
 public:
  static constexpr std::uint64_t kBatchBytes = std::uint64_t{64} << 20;

  // kConflict when another process owns it, kUnavailable when the directory cannot be used.
  static Result<std::shared_ptr<Tier>> open(TierOptions options, FileLayer& files,
                                            const Clock& clock);

  bool read(const Block& block, std::uint64_t offset, std::span<std::byte> into)
      EXCLUDES(mutex_, view_mutex_);
  bool holds(const Block& block) const EXCLUDES(view_mutex_);
  std::optional<ExtentState> check(const Block& block, std::span<std::byte> into)
      EXCLUDES(mutex_, view_mutex_);
  bool has_room(const Block& block) const EXCLUDES(mutex_);
  std::optional<Extent> locate(const Block& block) const EXCLUDES(view_mutex_);

  enum class Put { kStored, kThere, kRefused };
  Put put(const Block& block, std::span<const std::byte> data) EXCLUDES(mutex_, view_mutex_);

  void append_keys(std::vector<BlockKey>& keys) const EXCLUDES(view_mutex_);
  void drop_all(std::span<const BlockKey> keys) EXCLUDES(mutex_, view_mutex_);

  void seal(std::uint32_t segment) EXCLUDES(mutex_);
  void unseal(std::uint32_t segment) EXCLUDES(mutex_);

  // Sync what was stored; the second one its slots, too. Return 0 or an errno.
  int flush() EXCLUDES(mutex_, view_mutex_);
  int flush_table() EXCLUDES(mutex_, view_mutex_);
  bool batch_is_full() const EXCLUDES(mutex_);
  // The next maintain() tries again to free what the file system refused to free, and looks for
  // space that belongs to no block.
  void retry_held() EXCLUDES(mutex_);
  // False: the directory was removed or emptied; the tier is of no more use.
  bool maintain() EXCLUDES(mutex_, view_mutex_);
  // Stores nothing more, and lets another Tier open the directory.
  void abandon() EXCLUDES(mutex_);

  // Verifies blocks from the slot `first` on, until `most` bytes were read, or for a few thousand
  // slots.
  struct Scrubbed {
    std::uint64_t next = 0;  // slot; 0 at the end of the table
    std::uint64_t bytes = 0;
  };
  Scrubbed scrub(std::uint64_t first, std::uint64_t most) EXCLUDES(mutex_, view_mutex_);

  void add_stats(StoreStats& sum) const EXCLUDES(mutex_);
  const TierOptions& options() const { return options_; }

 private:
  // What a reader needs; replaced as a whole.
  struct View {
    std::shared_ptr<SlotTable> table{};
    std::map<std::uint32_t, SegmentPtr> segments{};
  };
  struct Pending {
    BlockKey key{};
    SegmentPtr segment{};
    std::uint32_t page = 0;
  };
  struct Trouble {
    int number = 0;
    const char* doing = "";
    const char* refused = "written";
    BootTime until{};
  };

  Tier(TierOptions options, FileLayer& files, std::unique_ptr<StoreDirectory> directory,
       const Clock& clock);
  Result<> load() EXCLUDES(mutex_, view_mutex_);
  int start_empty() REQUIRES(mutex_);

  std::shared_ptr<const View> view() const EXCLUDES(view_mutex_);
  void publish_view() REQUIRES(mutex_) EXCLUDES(view_mutex_);
  std::optional<Slot> find(const View& view, const BlockKey& key) const;
  // Verifies what it reads, and drops a block that is not right. Absent: not stored.
  std::optional<ExtentState> read_or_drop(const Block& block, std::uint64_t offset,
                                          std::span<std::byte> into) EXCLUDES(mutex_, view_mutex_);

  bool has_room_locked(std::uint64_t size) const REQUIRES(mutex_);
  bool leaves_space(std::uint64_t size) const REQUIRES(mutex_);  // to others, on the disk
  enum class Admission { kMayWrite, kThere, kRefused };
  Admission admit(const Block& block, Segments::Place& place) EXCLUDES(view_mutex_)
      REQUIRES(mutex_);
  int add_slot(const Slot& slot) REQUIRES(mutex_) EXCLUDES(view_mutex_);
  int rebuild_table() REQUIRES(mutex_) EXCLUDES(view_mutex_);
  void reset_counts() REQUIRES(mutex_);
  void account(std::uint64_t index, const Slot& slot, int sign) REQUIRES(mutex_);
  void fail(int number, const char* doing, const char* refused = "written") REQUIRES(mutex_);
  // Nothing: the block is absent, or its slot is another than `only`.
  std::optional<Slot> remove_slot(const BlockKey& key, const Slot* only) REQUIRES(mutex_);
  bool drop(const Slot& slot) EXCLUDES(mutex_, view_mutex_);
  // False: it was gone already.
  bool drop_bad(const Slot& slot, std::string_view path, ReadOutcome outcome)
      EXCLUDES(mutex_, view_mutex_);

  void count_some() EXCLUDES(mutex_);
  void enforce_limit() EXCLUDES(mutex_, view_mutex_);
  void reclaim() EXCLUDES(mutex_, view_mutex_);
  void refresh_space() EXCLUDES(mutex_);

  const TierOptions options_;
  FileLayer& files_;
  const std::unique_ptr<StoreDirectory> directory_;
  const Clock& clock_;

  ChecksumLists lists_;  // self-synchronised
  std::atomic<std::uint64_t> bytes_served_ = 0;
  std::atomic<std::uint64_t> damaged_ = 0;
  std::atomic<std::uint64_t> unreadable_ = 0;
  std::atomic<int> unreadable_errno_ = 0;
  std::atomic<int> unreadable_in_a_row_ = 0;

  mutable Mutex mutex_;  // before view_mutex_; held while slots are written, not while data is
  std::shared_ptr<SlotTable> table_ GUARDED_BY(mutex_);
  Segments segments_ GUARDED_BY(mutex_);
  std::unordered_set<BlockKey, BlockKeyHash> arriving_ GUARDED_BY(mutex_);
  std::vector<Pending> pending_ GUARDED_BY(mutex_);  // stored, not synced
  std::uint64_t pending_bytes_ GUARDED_BY(mutex_) = 0;
  std::uint64_t counted_to_ GUARDED_BY(mutex_) = 0;  // slots before it are in the next two
  std::uint64_t blocks_ GUARDED_BY(mutex_) = 0;
  std::uint64_t bytes_ GUARDED_BY(mutex_) = 0;
  std::uint64_t bytes_stored_ GUARDED_BY(mutex_) = 0;
  std::uint64_t refused_ GUARDED_BY(mutex_) = 0;
  std::uint64_t write_failures_ GUARDED_BY(mutex_) = 0;
  bool table_full_ GUARDED_BY(mutex_) = false;  // and may not grow
  Trouble trouble_ GUARDED_BY(mutex_){};
  DiskSpace space_ GUARDED_BY(mutex_){};
  std::uint64_t written_since_ GUARDED_BY(mutex_) = 0;  // since space_ was read
  std::string notice_ GUARDED_BY(mutex_){};
  std::vector<std::string> leftovers_ GUARDED_BY(mutex_){};  // of the earlier format
  bool reclaim_ GUARDED_BY(mutex_) = true;

  mutable Mutex view_mutex_;  // innermost; never held across I/O
  std::shared_ptr<const View> view_ GUARDED_BY(view_mutex_);
};

}  // namespace paddle::samplefs
