// SPDX-License-Identifier: Apache-2.0
//
// The format of a store, version 2: one directory per tier. Pure. All numbers are little-endian.
//
//   lock            held by the process that owns the tier
//   slots           the slot table: which block lies where
//   segment.<n>     the bytes of blocks, appended
//
// The slot table:
//
//   0      +---------------------+
//          | TableHeader         |  two copies; the one with the higher sequence counts
//   2048   +---------------------+
//          | TableHeader         |
//   4096   +---------------------+
//          | bucket: 8 slots     |  a block's slot is in the bucket that its key selects, or in one
//          +---------------------+  of the next kProbedBuckets - 1; a bucket with a free slot ends
//          | bucket: 8 slots     |  the search
//          | ...                 |
//
// A segment:
//
//          +---------------------+  each extent begins at a multiple of 4096
//          | data                |
//          | zeros               |  up to a multiple of 4096
//          | checksums of chunks |  4096 bytes, only after data of more than one chunk: one
//          +---------------------+  number per chunk, then zeros
//          | next extent         |
//
// A chunk is 128 KiB of a block's data (the last one may be shorter) and has an XXH3-64. The slot
// has the checksum of the only chunk, or of the list of checksums. So any part of a block can be
// verified by reading the chunks that it touches.
//
// A slot has a checksum of its own; one that does not match is a miss. kUnsynced: the data may be
// lost by a power failure, so the slot is valid only while the table's epoch is the slot's. The
// epoch increases with each start of the machine. kSynced: the data was synced before the slot was
// written.

#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "samplefs/block.h"
#include "samplefs/store/extent.h"

namespace paddle::samplefs {

inline constexpr std::uint64_t kChunkBytes = std::uint64_t{128} << 10;
inline constexpr std::size_t kMaxChunks = kBlockSize / kChunkBytes;

inline constexpr char kTableMagic[8] = {'P', 'D', 'L', 'S', 'L', 'O', 'T', 'S'};
inline constexpr std::uint32_t kStoreVersion = 2;

struct TableHeader {
  char magic[8] = {};
  std::uint32_t version = kStoreVersion;
  std::uint32_t epoch = 1;
  std::uint64_t slots = 0;     // a power of two
  std::uint64_t boot = 0;      // identifies the start of the machine to which the epoch belongs
  std::uint64_t sequence = 0;  // of the copies of the header
  std::uint64_t reserved[2] = {};
  std::uint64_t check = 0;  // XXH3-64 of the bytes before
};
static_assert(sizeof(TableHeader) == 64);

inline constexpr std::uint64_t kHeaderCopies[2] = {0, 2048};
inline constexpr std::uint64_t kFirstSlot = 4096;

enum class SlotState : std::uint8_t { kFree = 0, kUnsynced = 1, kSynced = 2, kDropped = 3 };

struct Slot {
  std::uint64_t key_high = 0;
  std::uint64_t key_low = 0;
  std::uint64_t file_size = 0;
  std::uint64_t checksum = 0;
  std::uint32_t segment = 0;  // from 1 on
  std::uint32_t page = 0;     // where the extent begins, in units of 4096
  std::uint32_t length = 0;   // of the data
  SlotState state = SlotState::kFree;
  std::uint8_t reserved[3] = {};
  std::uint32_t epoch = 0;
  std::uint32_t reserved_too = 0;
  std::uint64_t check = 0;  // XXH3-64 of the bytes before

  BlockKey key() const { return {.high = key_high, .low = key_low}; }
  std::uint64_t offset() const { return std::uint64_t{page} * kExtentAlignment; }
};
static_assert(sizeof(Slot) == 64);

inline constexpr std::uint64_t kBucketSlots = 8;
inline constexpr std::uint64_t kProbedBuckets = 8;
inline constexpr std::uint64_t kMinSlots = kBucketSlots * kProbedBuckets;
inline constexpr std::uint64_t kMaxSlots = std::uint64_t{1} << 32;

using SlotBytes = std::span<const std::byte, sizeof(Slot)>;

inline std::uint64_t table_size(std::uint64_t slots) { return kFirstSlot + slots * sizeof(Slot); }
// By the first bits of the key, so that a larger table has its slots in the same order.
// REQUIRES: slots is a power of two of at least kMinSlots.
inline std::uint64_t home_bucket(const BlockKey& key, std::uint64_t slots) {
  return key.low >> (64 - std::countr_zero(slots / kBucketSlots));
}

TableHeader with_check(TableHeader header);
Slot with_check(Slot slot);

// Nothing for what is not a header or a slot of this version, with each number in its range. A slot
// is never kFree.
std::optional<TableHeader> decode_header(std::span<const std::byte, sizeof(TableHeader)> bytes);
std::optional<Slot> decode_slot(SlotBytes bytes);
bool is_free(SlotBytes bytes);  // all zeros

// Whether the slot has a block, in a table of that epoch.
inline bool is_present(const Slot& slot, std::uint32_t epoch) {
  return slot.state == SlotState::kSynced ||
         (slot.state == SlotState::kUnsynced && slot.epoch == epoch);
}
// Whether it is that version of that block.
bool is_of(const Slot& slot, const Block& block);

inline std::uint64_t padded(std::uint64_t length) {
  return (length + kExtentAlignment - 1) / kExtentAlignment * kExtentAlignment;
}
// With zeros and checksums.
inline std::uint64_t extent_size(std::uint64_t length) {
  return padded(length) + (length > kChunkBytes ? kExtentAlignment : 0);
}
inline std::uint64_t stored_size(const Block& block) { return extent_size(block.length); }

// The checksums of the chunks of a block.
struct ChunkChecksums {
  std::array<std::uint64_t, kMaxChunks> of{};
  std::size_t count = 0;
};

// REQUIRES: 0 < data.size() <= kBlockSize.
ChunkChecksums chunk_checksums(std::span<const std::byte> data);
std::uint64_t chunk_checksum(std::span<const std::byte> chunk);
std::uint64_t block_checksum(const ChunkChecksums& chunks);
std::uint64_t block_checksum(std::span<const std::byte> data);

// What follows the padded data of a block of several chunks.
void encode_checksums(const ChunkChecksums& chunks, std::span<std::byte, kExtentAlignment> page);
// Nothing: not the list to which the slot's checksum belongs.
std::optional<ChunkChecksums> decode_checksums(std::span<const std::byte, kExtentAlignment> page,
                                               const Slot& slot);

}  // namespace paddle::samplefs
