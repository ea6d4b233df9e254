// SPDX-License-Identifier: Apache-2.0
#include "samplefs/store/slot_table.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

namespace paddle::samplefs {
namespace {

constexpr std::uint64_t kSlotsPerRead = 4096;

// The copy with the higher sequence.
int read_header(StoreFile& file, TableHeader& into) {
  bool any = false;
  for (const std::uint64_t at : kHeaderCopies) {
    std::array<std::byte, sizeof(TableHeader)> bytes;
    const int number = file.read(at, bytes);
    if (number == ENODATA) continue;
    if (number != 0) return number;
    const auto header = decode_header(bytes);
    if (!header || (any && header->sequence < into.sequence)) continue;
    into = *header;
    any = true;
  }
  return any ? 0 : EILSEQ;
}

int write_header(StoreFile& file, const TableHeader& header) {
  const TableHeader whole = with_check(header);
  return file.write(kHeaderCopies[header.sequence % 2], std::as_bytes(std::span(&whole, 1)));
}

}  // namespace

struct SlotTable::Bucket {
  std::array<std::byte, kBucketSlots * sizeof(Slot)> bytes;
  SlotBytes at(std::size_t i) const {
    return SlotBytes(bytes.data() + i * sizeof(Slot), sizeof(Slot));
  }
  bool has_free() const {
    for (std::size_t i = 0; i < kBucketSlots; ++i) {
      if (is_free(at(i))) return true;
    }
    return false;
  }
};

int SlotTable::open(StoreDirectory& directory, const std::string& name, OpenMode mode,
                    std::uint64_t boot, std::unique_ptr<SlotTable>& into) {
  std::unique_ptr<StoreFile> file;
  if (const int number = directory.open(name, mode, Caching::kBuffered, file)) return number;
  TableHeader header;
  if (const int number = read_header(*file, header)) return number;
  FileSize size;
  if (const int number = file->size(size)) return number;
  if (size.bytes < table_size(header.slots)) return EILSEQ;
  if (header.boot != boot) {
    ++header.epoch;
    ++header.sequence;
    header.boot = boot;
    if (mode != OpenMode::kRead) {
      if (const int number = write_header(*file, header)) return number;
      if (const int number = file->sync()) return number;
    }
  }
  into.reset(new SlotTable(std::move(file), header));
  return 0;
}

int SlotTable::create(StoreDirectory& directory, const std::string& name, std::uint64_t slots,
                      std::uint32_t epoch, std::uint64_t boot, std::unique_ptr<SlotTable>& into) {
  std::unique_ptr<StoreFile> file;
  const auto opened = directory.open(name, OpenMode::kCreate, Caching::kBuffered, file);
  if (opened != 0) return opened;
  const TableHeader header{.epoch = epoch, .slots = slots, .boot = boot};
  if (const int number = write_header(*file, header)) return number;
  // Its last byte gives the file its size; the rest are holes until slots are written.
  const std::array<std::byte, 1> last{};
  if (const int number = file->write(table_size(slots) - 1, last)) return number;
  into.reset(new SlotTable(std::move(file), header));
  return 0;
}

int SlotTable::read_bucket(std::uint64_t number, Bucket& into) const {
  return file_->read(kFirstSlot + number * sizeof into.bytes, into.bytes);
}

SlotTable::Found SlotTable::find(const BlockKey& key) const {
  Found found;
  for (std::uint64_t probe = 0; probe < kProbedBuckets; ++probe) {
    const std::uint64_t number = bucket_after(key, probe);
    Bucket bucket;
    if ((found.number = read_bucket(number, bucket)) != 0) return found;
    for (std::size_t i = 0; i < kBucketSlots; ++i) {
      const auto slot = decode_slot(bucket.at(i));
      if (!slot) {
        found.damaged |= !is_free(bucket.at(i));
      } else if (slot->key() == key && is_present(*slot, header_.epoch)) {
        found.slot = slot;
        found.index = number * kBucketSlots + i;
        return found;
      }
    }
    if (bucket.has_free()) break;
  }
  return found;
}

int SlotTable::write_slot(std::uint64_t index, const Slot& slot) {
  const Slot whole = with_check(slot);
  return file_->write(kFirstSlot + index * sizeof whole, std::as_bytes(std::span(&whole, 1)));
}

int SlotTable::insert(Slot slot, std::optional<std::uint64_t>& index) {
  index.reset();
  for (std::uint64_t probe = 0; probe < kProbedBuckets && !index; ++probe) {
    const std::uint64_t number = bucket_after(slot.key(), probe);
    Bucket bucket;
    if (const int failed = read_bucket(number, bucket)) return failed;
    for (std::size_t i = 0; i < kBucketSlots && !index; ++i) {
      const auto known = decode_slot(bucket.at(i));
      if (!known || !is_present(*known, header_.epoch)) index = number * kBucketSlots + i;
    }
  }
  if (!index) return ENOSPC;
  return replace(*index, slot);
}

int SlotTable::replace(std::uint64_t index, Slot slot) {
  slot.epoch = header_.epoch;
  return write_slot(index, slot);
}

// A search ends at a free slot, so where the bucket has none a dropped one has to stay.
int SlotTable::remove(std::uint64_t index) {
  Bucket bucket;
  if (const int number = read_bucket(index / kBucketSlots, bucket)) return number;
  if (bucket.has_free()) {
    const std::array<std::byte, sizeof(Slot)> zeros{};
    return file_->write(kFirstSlot + index * sizeof(Slot), zeros);
  }
  auto slot = decode_slot(bucket.at(index % kBucketSlots));
  if (!slot) return 0;
  slot->state = SlotState::kDropped;
  return write_slot(index, *slot);
}

// A part of the table in memory. Slots come almost in its order, so each part is read and written
// once.
class SlotTable::Window {
 public:
  explicit Window(SlotTable& table) : table_(table), bytes_(kBuckets * kBucketBytes) {}

  // Null: the bucket is outside, or the table cannot be read.
  std::byte* bucket(std::uint64_t number) {
    if (number < first_ || number >= first_ + count_) return nullptr;
    return bytes_.data() + (number - first_) * kBucketBytes;
  }
  // Moves to the part that begins with this bucket.
  int move_to(std::uint64_t number) {
    if (const int failed = write()) return failed;
    first_ = number;
    count_ = std::min<std::uint64_t>(kBuckets, table_.slots() / kBucketSlots - number);
    return table_.file_->read(kFirstSlot + first_ * kBucketBytes, part());
  }
  int write() {
    return count_ == 0 ? 0 : table_.file_->write(kFirstSlot + first_ * kBucketBytes, part());
  }

 private:
  static constexpr std::size_t kBucketBytes = kBucketSlots * sizeof(Slot);
  static constexpr std::uint64_t kBuckets = 512;

  std::span<std::byte> part() { return {bytes_.data(), count_ * kBucketBytes}; }

  SlotTable& table_;
  std::vector<std::byte> bytes_;
  std::uint64_t first_ = 0;
  std::uint64_t count_ = 0;
};

int SlotTable::copy_from(const SlotTable& other, bool& crowded) {
  Window window(*this);
  int failed = 0;
  crowded = false;
  const auto put = [&](Slot slot) -> int {
    const std::uint64_t home = home_bucket(slot.key(), header_.slots);
    if (window.bucket(home) == nullptr) {
      if (const int number = window.move_to(home)) return number;
    }
    slot.epoch = header_.epoch;
    slot = with_check(slot);
    for (std::uint64_t probe = 0; probe < kProbedBuckets; ++probe) {
      const std::uint64_t number = bucket_after(slot.key(), probe);
      std::byte* bucket = window.bucket(number);
      if (bucket == nullptr) {  // the part ends, or the table begins again
        std::optional<std::uint64_t> index;
        if (const int refused = window.write()) return refused;
        const int done = insert(slot, index);
        crowded = done == ENOSPC && !index;
        return done != 0 ? done : window.move_to(home);
      }
      for (std::size_t i = 0; i < kBucketSlots; ++i, bucket += sizeof slot) {
        if (!is_free(SlotBytes(bucket, sizeof slot))) continue;
        std::memcpy(bucket, &slot, sizeof slot);
        return 0;
      }
    }
    crowded = true;
    return ENOSPC;
  };
  const int number = other.for_each(0, other.slots(), [&](std::uint64_t, const Slot& slot) {
    if (failed == 0) failed = put(slot);
  });
  if (number != 0) return number;
  return failed != 0 ? failed : window.write();
}

int SlotTable::for_each(std::uint64_t first, std::uint64_t count, const Visit& visit) const {
  const std::uint64_t end = std::min(header_.slots, first + count);
  std::vector<std::byte> bytes;
  while (first < end) {
    const std::uint64_t part = std::min(kSlotsPerRead, end - first);
    bytes.resize(part * sizeof(Slot));
    if (const int number = file_->read(kFirstSlot + first * sizeof(Slot), bytes)) return number;
    for (std::uint64_t i = 0; i < part; ++i) {
      const auto slot = decode_slot(SlotBytes(bytes.data() + i * sizeof(Slot), sizeof(Slot)));
      if (slot && is_present(*slot, header_.epoch)) visit(first + i, *slot);
    }
    first += part;
  }
  return 0;
}

bool SlotTable::linked() const {
  FileSize size;
  return file_->size(size) != 0 || size.linked;
}

}  // namespace paddle::samplefs
