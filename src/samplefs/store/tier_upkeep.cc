// SPDX-License-Identifier: Apache-2.0
//
// What a Tier does beside its callers: syncing, counting, freeing.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include "base/log.h"
#include "samplefs/store/aligned_bytes.h"
#include "samplefs/store/tier.h"

namespace paddle::samplefs {
namespace {

constexpr std::uint64_t kSlotsPerStep = 4096;  // between which others get the mutex

}  // namespace

bool Tier::batch_is_full() const {
  Lock lock(mutex_);
  return pending_bytes_ >= kBatchBytes;
}

int Tier::flush() {
  std::vector<Pending> batch;
  bool created = false;
  {
    Lock lock(mutex_);
    batch.swap(pending_);
    pending_bytes_ = 0;
    created = segments_.take_created();
  }
  std::set<SegmentPtr> written;
  for (const Pending& each : batch) written.insert(each.segment);
  int number = created ? directory_->sync() : 0;
  for (const SegmentPtr& segment : written) {
    if (number == 0) number = segment->file->sync();
  }
  if (number != 0) {
    // They are served until the machine stops, and never called synced: after an error it
    // is not known what the disk has.
    Lock lock(mutex_);
    if (created) segments_.set_created();
    fail(number, "sync the cache");
    return number;
  }
  for (std::size_t i = 0; i < batch.size();) {
    Lock lock(mutex_);
    for (const std::size_t end = std::min(i + 64, batch.size()); i < end; ++i) {
      const auto found = table_->find(batch[i].key);
      if (!found.slot || found.slot->state != SlotState::kUnsynced ||
          found.slot->segment != batch[i].segment->number || found.slot->page != batch[i].page) {
        continue;
      }
      Slot slot = *found.slot;
      slot.state = SlotState::kSynced;
      if ((number = table_->replace(found.index, slot)) != 0) fail(number, "write a slot");
    }
  }
  return number;
}

int Tier::flush_table() {
  const int number = flush();
  return number != 0 ? number : view()->table->sync();
}

void Tier::retry_held() {
  Lock lock(mutex_);
  reclaim_ = true;
}

bool Tier::maintain() {
  const bool in_place = directory_->in_place() && view()->table->linked();
  if (!in_place) return false;
  refresh_space();
  flush();
  count_some();
  enforce_limit();
  reclaim();
  std::vector<std::string> leftovers;
  {
    Lock lock(mutex_);
    leftovers.swap(leftovers_);
  }
  for (const std::string& name : leftovers) {
    if (const int number = directory_->remove_tree(name)) {
      log::warn("cannot remove the cache of an earlier version",
                {{"directory", options_.directory}, {"reason", std::strerror(number)}});
    }
  }
  return true;
}

void Tier::refresh_space() {
  DiskSpace now;
  if (directory_->space(now) != 0) return;
  Lock lock(mutex_);
  space_ = now;
  written_since_ = 0;
}

void Tier::count_some() {
  for (;;) {
    Lock lock(mutex_);
    const std::uint64_t first = counted_to_;
    if (first >= table_->slots()) break;
    counted_to_ = std::min(first + kSlotsPerStep, table_->slots());
    std::vector<Slot> slots;
    const auto take = [&](std::uint64_t, const Slot& slot) { slots.push_back(slot); };
    const int number = table_->for_each(first, counted_to_ - first, take);
    for (const Slot& slot : slots) account(first, slot, +1);
    if (number != 0) break;
    if (counted_to_ >= table_->slots()) {
      segments_.set_counted(true);
      segments_.remove_empty();
      if (segments_.take_changed()) publish_view();
    }
  }
}

// After a start with a smaller limit.
void Tier::enforce_limit() {
  std::uint64_t excess = 0;
  {
    Lock lock(mutex_);
    const std::uint64_t used = segments_.used() + table_->bytes();
    // What sealed segments hold is not freed by dropping more.
    const std::uint64_t most = options_.limit + segments_.held();
    if (counted_to_ < table_->slots() || used <= most) return;
    excess = used - most;
  }
  std::vector<BlockKey> keys;
  const auto now = view();
  std::uint64_t freed = 0;
  (void)now->table->for_each(0, now->table->slots(), [&](std::uint64_t, const Slot& slot) {
    if (freed >= excess) return;
    const auto segment = now->segments.find(slot.segment);
    if (segment == now->segments.end()) return;
    freed += extent_size(slot.length);
    keys.push_back(slot.key());
  });
  if (!keys.empty()) drop_all(keys);
}

void Tier::reclaim() {
  std::map<std::uint32_t, std::vector<Segments::Used>> extents;
  {
    Lock lock(mutex_);
    if (!reclaim_ || counted_to_ < table_->slots()) return;
    reclaim_ = false;
    for (const SegmentPtr& segment : segments_.wasteful()) extents[segment->number];
  }
  if (extents.empty()) return;
  const auto now = view();
  const int number =
      now->table->for_each(0, now->table->slots(), [&](std::uint64_t, const Slot& slot) {
        const auto found = extents.find(slot.segment);
        if (found == extents.end()) return;
        found->second.push_back({.offset = slot.offset(), .size = extent_size(slot.length)});
      });
  if (number != 0) return;
  Lock lock(mutex_);
  for (auto& [segment, used] : extents) {
    const SegmentPtr known = segments_.find(segment);
    if (known && known->seals == 0) segments_.free_gaps(*known, std::move(used));
  }
  segments_.remove_empty();
  if (segments_.take_changed()) publish_view();
}

Tier::Scrubbed Tier::scrub(std::uint64_t first, std::uint64_t most) {
  const auto now = view();
  std::vector<std::pair<std::uint64_t, Slot>> slots;
  const auto take = [&](std::uint64_t index, const Slot& slot) { slots.emplace_back(index, slot); };
  (void)now->table->for_each(first, kSlotsPerStep, take);
  Scrubbed done;
  AlignedBytes room;
  for (const auto& [index, slot] : slots) {
    if (done.bytes >= most) {
      done.next = index;
      return done;
    }
    const auto segment = now->segments.find(slot.segment);
    ReadOutcome outcome{.state = ExtentState::kDamaged, .number = ENOENT};
    if (segment != now->segments.end()) {
      if (!room) room = aligned_bytes(kBlockSize);
      outcome = read_extent(*segment->second->file, slot, 0, {room.get(), slot.length}, lists_);
      done.bytes += slot.length;
    }
    if (outcome.state != ExtentState::kRight) (void)drop_bad(slot, "found by the scrub", outcome);
  }
  const std::uint64_t next = first + kSlotsPerStep;
  done.next = next < now->table->slots() ? next : 0;
  return done;
}

}  // namespace paddle::samplefs
