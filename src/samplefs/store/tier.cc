// SPDX-License-Identifier: Apache-2.0
#include "samplefs/store/tier.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/log.h"

namespace paddle::samplefs {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kCountedAtOnce = std::uint64_t{1} << 16;  // slots: 4 MiB
// After this time writes are tried again on a disk that refused them.
constexpr std::chrono::seconds kPause{30};
constexpr int kMostUnreadable = 3;  // in a row: it is not one bad sector

constexpr const char* kTable = "slots";

std::uint64_t segment_bytes_of(const TierOptions& options) {
  if (options.segment_bytes > 0) return options.segment_bytes;
  return std::clamp(options.limit / 128 / kGiB * kGiB, kGiB, 4 * kGiB);
}

Error disk_error(const char* doing, int number) {
  return {Code::kUnavailable, std::string(doing) + ": " + std::strerror(number)};
}

bool is_of_the_first_format(const std::string& name) {
  return name == "blocks.1" || name == "tmp.1";
}

}  // namespace

Tier::Tier(TierOptions options, FileLayer& files, std::unique_ptr<StoreDirectory> directory,
           const Clock& clock)
    : options_(std::move(options)),
      files_(files),
      directory_(std::move(directory)),
      clock_(clock),
      segments_(*directory_, segment_bytes_of(options_)) {}

Result<std::shared_ptr<Tier>> Tier::open(TierOptions options, FileLayer& files,
                                         const Clock& clock) {
  std::unique_ptr<StoreDirectory> directory;
  if (const int number = files.open_directory(options.directory, true, directory)) {
    return disk_error("open the cache directory", number);
  }
  if (const int number = directory->lock()) {
    if (number != EWOULDBLOCK) return disk_error("open the lock of the cache directory", number);
    return Error{Code::kConflict, "the cache directory is in use by another process"};
  }
  std::shared_ptr<Tier> tier(new Tier(std::move(options), files, std::move(directory), clock));
  CHECK_DONE(tier->load());
  tier->refresh_space();
  if (tier->view()->table->slots() <= kCountedAtOnce) {
    tier->count_some();
    tier->enforce_limit();
  }
  return tier;
}

Result<> Tier::load() {
  std::vector<std::string> names;
  if (const int number = directory_->list(names)) {
    return disk_error("read the cache directory", number);
  }
  Lock lock(mutex_);
  for (const std::string& name : names) {
    if (is_of_the_first_format(name)) leftovers_.push_back(name);
  }
  if (!leftovers_.empty()) {
    notice_ =
        "the cache was written by an earlier version; its contents are dropped and fetched again";
  }
  directory_->remove("slots.new");
  std::unique_ptr<SlotTable> table;
  const int number =
      SlotTable::open(*directory_, kTable, OpenMode::kReadWrite, files_.boot(), table);
  if (number == 0) {
    table_ = std::move(table);
  } else if (number != ENOENT && number != EILSEQ) {
    return disk_error("open the slot table of the cache", number);
  } else {
    if (number == EILSEQ) {
      notice_ =
          "the slot table of the cache is damaged or of another version; the cached samples "
          "are dropped and fetched again";
    }
    for (const std::string& name : names) {
      if (name == kTable || name.starts_with("segment.")) directory_->remove(name);
    }
    if (const int refused = start_empty())
      return disk_error("write to the cache directory", refused);
  }
  if (!notice_.empty()) log::warn(notice_, {{"directory", options_.directory}});
  if (const int refused = segments_.open()) return disk_error("read the cache directory", refused);
  publish_view();
  return Done{};
}

int Tier::start_empty() {
  std::unique_ptr<SlotTable> table;
  const int number = SlotTable::create(*directory_, kTable, kMinSlots, 1, files_.boot(), table);
  if (number != 0) return number;
  if (const int refused = table->sync()) return refused;
  if (const int refused = directory_->sync()) return refused;
  table_ = std::move(table);
  return 0;
}

std::shared_ptr<const Tier::View> Tier::view() const {
  Lock lock(view_mutex_);
  return view_;
}

void Tier::publish_view() {
  auto next = std::make_shared<const View>(View{.table = table_, .segments = segments_.all()});
  Lock lock(view_mutex_);
  view_.swap(next);
}

// A slot that is being written may look damaged for an instant.
std::optional<Slot> Tier::find(const View& view, const BlockKey& key) const {
  SlotTable::Found found = view.table->find(key);
  if (!found.slot && found.damaged) found = view.table->find(key);
  return found.slot;
}

bool Tier::holds(const Block& block) const {
  const auto slot = find(*view(), block.key);
  return slot && is_of(*slot, block);
}

std::optional<Extent> Tier::locate(const Block& block) const {
  const auto slot = find(*view(), block.key);
  if (!slot || !is_of(*slot, block)) return std::nullopt;
  return Extent{.segment = {.tier = 0, .number = slot->segment},
                .offset = slot->offset(),
                .length = slot->length,
                .checksum = slot->checksum};
}

std::optional<ExtentState> Tier::read_or_drop(const Block& block, std::uint64_t offset,
                                              std::span<std::byte> into) {
  const auto now = view();
  const auto slot = find(*now, block.key);
  if (!slot || !is_of(*slot, block)) return std::nullopt;
  const auto segment = now->segments.find(slot->segment);
  ReadOutcome outcome{.state = ExtentState::kDamaged, .number = ENOENT};
  if (segment != now->segments.end()) {
    outcome = read_extent(*segment->second->file, *slot, offset, into, lists_);
  }
  if (outcome.state == ExtentState::kRight) return outcome.state;
  // A block that was dropped while it was read was not damaged.
  const bool was_there = drop_bad(*slot, block.path, outcome);
  return was_there ? std::optional(outcome.state) : std::nullopt;
}

bool Tier::read(const Block& block, std::uint64_t offset, std::span<std::byte> into) {
  if (read_or_drop(block, offset, into) != ExtentState::kRight) return false;
  bytes_served_.fetch_add(into.size(), std::memory_order_relaxed);
  if (unreadable_in_a_row_.load(std::memory_order_relaxed) != 0) {
    unreadable_in_a_row_.store(0, std::memory_order_relaxed);
  }
  return true;
}

std::optional<ExtentState> Tier::check(const Block& block, std::span<std::byte> into) {
  return read_or_drop(block, 0, into);
}

// A whole cache may be affected: logs the 1st, the 2nd, the 4th, ...
bool Tier::drop_bad(const Slot& slot, std::string_view path, ReadOutcome outcome) {
  if (outcome.state == ExtentState::kBusy) return true;
  if (!drop(slot)) return false;  // it was dropped while it was read
  const bool damage = outcome.state == ExtentState::kDamaged;
  if (!damage) {
    unreadable_errno_.store(outcome.number, std::memory_order_relaxed);
    if (unreadable_in_a_row_.fetch_add(1, std::memory_order_relaxed) + 1 >= kMostUnreadable) {
      Lock lock(mutex_);
      fail(outcome.number, "read a block", "read");
    }
  }
  const std::uint64_t count =
      (damage ? damaged_ : unreadable_).fetch_add(1, std::memory_order_relaxed) + 1;
  if ((count & (count - 1)) != 0) return true;
  log::warn(damage ? "dropped damaged blocks of the cache"
                   : "dropped blocks of the cache that the disk cannot read",
            {{"count", count},
             {"last", path},
             {"reason", outcome.number == 0 ? "checksum" : std::strerror(outcome.number)}});
  return true;
}

bool Tier::has_room_locked(std::uint64_t size) const {
  if (clock_.boot() < trouble_.until || table_full_) return false;
  if (segments_.used() + table_->bytes() + size > options_.limit) return false;
  return leaves_space(size);
}

bool Tier::leaves_space(std::uint64_t size) const {
  if (options_.keep_free <= 0) return true;
  const double taken = static_cast<double>(written_since_ + size);
  const double left = static_cast<double>(space_.available) - taken;
  return left >= options_.keep_free * static_cast<double>(space_.size);
}

bool Tier::has_room(const Block& block) const {
  Lock lock(mutex_);
  return has_room_locked(stored_size(block));
}

// Logs the 1st, the 2nd, the 4th, ...
void Tier::fail(int number, const char* doing, const char* refused) {
  trouble_ = {
      .number = number, .doing = doing, .refused = refused, .until = clock_.boot() + kPause};
  ++write_failures_;
  if ((write_failures_ & (write_failures_ - 1)) != 0) return;
  log::warn("cannot use the disk of the cache", {{"directory", options_.directory},
                                                 {"doing", doing},
                                                 {"reason", std::strerror(number)},
                                                 {"count", write_failures_}});
}

Tier::Admission Tier::admit(const Block& block, Segments::Place& place) {
  if (arriving_.contains(block.key)) return Admission::kRefused;
  const auto known = table_->find(block.key);
  if (known.slot && is_of(*known.slot, block)) return Admission::kThere;
  if (!has_room_locked(stored_size(block))) {
    ++refused_;
    return Admission::kRefused;
  }
  if (known.slot) {  // the same name with another size
    if (const auto gone = remove_slot(block.key, nullptr)) {
      segments_.free(gone->segment, gone->offset(), extent_size(gone->length));
    }
  }
  if (const int number = segments_.reserve(stored_size(block), place)) {
    fail(number, "make a segment");
    return Admission::kRefused;
  }
  arriving_.insert(block.key);
  written_since_ += stored_size(block);
  if (segments_.take_changed()) publish_view();
  return Admission::kMayWrite;
}

Tier::Put Tier::put(const Block& block, std::span<const std::byte> data) {
  if (data.size() != block.length || data.empty() || data.size() > kBlockSize) {
    return Put::kRefused;
  }
  const ChunkChecksums chunks = chunk_checksums(data);
  // A segment that another process sealed refuses what is appended: the next one is begun, once.
  for (int attempt = 0;; ++attempt) {
    Segments::Place place;
    {
      Lock lock(mutex_);
      const Admission admission = admit(block, place);
      if (admission == Admission::kThere) return Put::kThere;
      if (admission == Admission::kRefused) return Put::kRefused;
    }
    int number = write_extent(*place.segment->file, place.offset, data, chunks);
    Lock lock(mutex_);
    arriving_.erase(block.key);
    const bool sealed = number == EPERM && attempt == 0;
    if (number == 0) {
      number = add_slot({.key_high = block.key.high,
                         .key_low = block.key.low,
                         .file_size = block.file_size,
                         .checksum = block_checksum(chunks),
                         .segment = place.segment->number,
                         .page = static_cast<std::uint32_t>(place.offset / kExtentAlignment),
                         .length = static_cast<std::uint32_t>(block.length),
                         .state = SlotState::kUnsynced});
    }
    segments_.settle(place, stored_size(block), number == 0);
    if (number == 0) {
      pending_.push_back({.key = block.key,
                          .segment = place.segment,
                          .page = static_cast<std::uint32_t>(place.offset / kExtentAlignment)});
      pending_bytes_ += block.length;
      bytes_stored_ += block.length;
      trouble_ = {};
      return Put::kStored;
    }
    if (sealed) {
      if (place.segment->open) segments_.close_open();
      continue;
    }
    if (number == ENOBUFS) {  // a larger table would exceed the limit
      ++refused_;
    } else {
      fail(number, "write a block");
    }
    return Put::kRefused;
  }
}

void Tier::account(std::uint64_t index, const Slot& slot, int sign) {
  if (index >= counted_to_) return;  // it will be counted, or not
  const SegmentPtr segment = segments_.find(slot.segment);
  const std::uint64_t size = extent_size(slot.length);
  if (sign > 0) {
    ++blocks_;
    bytes_ += slot.length;
  } else {
    --blocks_;
    bytes_ -= slot.length;
  }
  if (!segment) return;
  segment->live = sign > 0 ? segment->live + size : segment->live - size;
  segment->blocks = sign > 0 ? segment->blocks + 1 : segment->blocks - 1;
}

int Tier::add_slot(const Slot& slot) {
  std::optional<std::uint64_t> index;
  int number = table_->insert(slot, index);
  if (number == ENOSPC && !index) {
    if (const int refused = rebuild_table()) return refused;
    number = table_->insert(slot, index);
  }
  if (number != 0) return number;
  account(*index, slot, +1);
  return 0;
}

void Tier::reset_counts() {
  counted_to_ = blocks_ = bytes_ = 0;
  segments_.reset_counts();
}

// Readers use the old one meanwhile; who stores a block waits.
int Tier::rebuild_table() {
  std::uint64_t present = 0;
  const auto count = [&](std::uint64_t, const Slot&) { ++present; };
  if (const int number = table_->for_each(0, table_->slots(), count)) return number;
  std::uint64_t slots = kMinSlots;
  while (slots < present * 2) slots *= 2;
  for (int attempt = 0; attempt < 3; ++attempt, slots *= 2) {
    if (segments_.used() + table_size(slots) > options_.limit) {
      table_full_ = true;
      return ENOBUFS;
    }
    directory_->remove("slots.new");
    std::unique_ptr<SlotTable> next;
    bool crowded = false;
    int number =
        SlotTable::create(*directory_, "slots.new", slots, table_->epoch(), files_.boot(), next);
    if (number == 0) number = next->copy_from(*table_, crowded);
    if (crowded) continue;
    if (number == 0) number = next->sync();
    if (number == 0) number = directory_->rename("slots.new", kTable);
    if (number != 0) {
      directory_->remove("slots.new");
      return number;
    }
    // What was counted is in the first part of the old table. The new one is counted again.
    const bool counted = counted_to_ >= table_->slots();
    table_ = std::move(next);
    if (counted) {
      counted_to_ = table_->slots();
    } else {
      reset_counts();
    }
    publish_view();
    return directory_->sync();
  }
  return ENOSPC;
}

std::optional<Slot> Tier::remove_slot(const BlockKey& key, const Slot* only) {
  const auto found = table_->find(key);
  if (!found.slot) return std::nullopt;
  const bool same =
      only == nullptr || (found.slot->segment == only->segment && found.slot->page == only->page);
  if (!same || table_->remove(found.index) != 0) return std::nullopt;
  account(found.index, *found.slot, -1);
  table_full_ = false;
  return found.slot;
}

bool Tier::drop(const Slot& slot) {
  Lock lock(mutex_);
  if (!remove_slot(slot.key(), &slot)) return false;
  segments_.free(slot.segment, slot.offset(), extent_size(slot.length));
  segments_.remove_empty();
  if (segments_.take_changed()) publish_view();
  return true;
}

void Tier::drop_all(std::span<const BlockKey> keys) {
  constexpr std::size_t kAtOnce = 256;
  std::vector<Slot> gone;
  while (!keys.empty()) {
    const auto part = keys.first(std::min(kAtOnce, keys.size()));
    keys = keys.subspan(part.size());
    Lock lock(mutex_);
    for (const BlockKey& key : part) {
      if (const auto slot = remove_slot(key, nullptr)) gone.push_back(*slot);
    }
  }
  {
    Lock lock(mutex_);
    segments_.remove_empty();
    if (segments_.take_changed()) publish_view();
  }
  for (std::size_t i = 0; i < gone.size(); i += kAtOnce) {
    Lock lock(mutex_);
    for (std::size_t j = i; j < std::min(i + kAtOnce, gone.size()); ++j) {
      segments_.free(gone[j].segment, gone[j].offset(), extent_size(gone[j].length));
    }
  }
}

void Tier::abandon() {
  directory_->unlock();
  Lock lock(mutex_);
  trouble_ = {.number = ENOENT, .doing = "use the directory", .until = BootTime::max()};
}

void Tier::append_keys(std::vector<BlockKey>& keys) const {
  const auto now = view();
  (void)now->table->for_each(0, now->table->slots(),
                             [&](std::uint64_t, const Slot& slot) { keys.push_back(slot.key()); });
}

void Tier::seal(std::uint32_t number) {
  Lock lock(mutex_);
  const SegmentPtr segment = segments_.find(number);
  if (!segment) return;
  if (segment->open) segments_.close_open();
  ++segment->seals;
}

void Tier::unseal(std::uint32_t number) {
  Lock lock(mutex_);
  const SegmentPtr segment = segments_.find(number);
  if (!segment || segment->seals == 0) return;
  --segment->seals;
  reclaim_ = true;
}

void Tier::add_stats(StoreStats& sum) const {
  Lock lock(mutex_);
  sum.limit += options_.limit;
  sum.used += segments_.used() + table_->bytes();
  sum.blocks += blocks_;
  sum.bytes += bytes_;
  sum.counted &= counted_to_ >= table_->slots();
  sum.bytes_served += bytes_served_.load(std::memory_order_relaxed);
  sum.bytes_stored += bytes_stored_;
  sum.refused += refused_;
  sum.damaged += damaged_.load(std::memory_order_relaxed);
  sum.unreadable += unreadable_.load(std::memory_order_relaxed);
  if (const int number = unreadable_errno_.load(std::memory_order_relaxed)) {
    sum.unreadable_errno = number;
  }
  sum.write_failures += write_failures_;
  sum.held += segments_.held();
  if (trouble_.number != 0) {
    sum.degraded = "the cache directory '" + options_.directory + "' cannot be " +
                   trouble_.refused + " (" + std::strerror(trouble_.number) +
                   "); what it has is served, other samples are read from their source, and "
                   "writing is tried again every 30 seconds";
  }
  const bool full = segments_.used() + table_->bytes() + kBlockSize > options_.limit;
  if (trouble_.number == 0 && !full && !leaves_space(kBlockSize)) {
    sum.degraded = "the disk of the cache directory '" + options_.directory + "' has less than " +
                   std::to_string(static_cast<int>(options_.keep_free * 100)) +
                   " % free; what the cache has is served, other samples are read from their "
                   "source, and caching goes on when there is room";
  }
  if (!notice_.empty()) sum.notice = notice_;
}

}  // namespace paddle::samplefs
