// SPDX-License-Identifier: Apache-2.0
#include "samplefs/store/format.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include <xxhash.h>

namespace paddle::samplefs {
namespace {

static_assert(std::endian::native == std::endian::little);

template <typename Record>
std::uint64_t check_of(const Record& record) {
  return XXH3_64bits(&record, sizeof record - sizeof record.check);
}

}  // namespace

std::string segment_file(std::uint32_t number) { return "segment." + std::to_string(number); }

TableHeader with_check(TableHeader header) {
  std::memcpy(header.magic, kTableMagic, sizeof kTableMagic);
  header.check = check_of(header);
  return header;
}

Slot with_check(Slot slot) {
  slot.check = check_of(slot);
  return slot;
}

std::optional<TableHeader> decode_header(std::span<const std::byte, sizeof(TableHeader)> bytes) {
  TableHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, kTableMagic, sizeof kTableMagic) != 0 ||
      header.check != check_of(header) || header.version != kStoreVersion) {
    return std::nullopt;
  }
  const bool fits = std::has_single_bit(header.slots) && header.slots >= kMinSlots &&
                    header.slots <= kMaxSlots && header.epoch > 0;
  if (!fits) return std::nullopt;
  return header;
}

std::optional<Slot> decode_slot(SlotBytes bytes) {
  Slot slot;
  std::memcpy(&slot, bytes.data(), sizeof slot);
  if (slot.check != check_of(slot)) return std::nullopt;
  if (slot.state == SlotState::kFree || slot.state > SlotState::kDropped) return std::nullopt;
  if (slot.segment == 0 || slot.length == 0 || slot.length > kBlockSize ||
      slot.length > slot.file_size) {
    return std::nullopt;
  }
  return slot;
}

bool is_free(SlotBytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

bool is_of(const Slot& slot, const Block& block) {
  return slot.key() == block.key && slot.length == block.length &&
         slot.file_size == block.file_size;
}

std::uint64_t chunk_checksum(std::span<const std::byte> chunk) {
  return XXH3_64bits(chunk.data(), chunk.size());
}

ChunkChecksums chunk_checksums(std::span<const std::byte> data) {
  ChunkChecksums chunks;
  while (!data.empty()) {
    const std::size_t size = std::min<std::size_t>(kChunkBytes, data.size());
    chunks.of[chunks.count++] = chunk_checksum(data.first(size));
    data = data.subspan(size);
  }
  return chunks;
}

std::uint64_t block_checksum(const ChunkChecksums& chunks) {
  if (chunks.count == 1) return chunks.of[0];
  return XXH3_64bits(chunks.of.data(), chunks.count * sizeof chunks.of[0]);
}

std::uint64_t block_checksum(std::span<const std::byte> data) {
  return block_checksum(chunk_checksums(data));
}

void encode_checksums(const ChunkChecksums& chunks, std::span<std::byte, kExtentAlignment> page) {
  std::memset(page.data(), 0, page.size());
  std::memcpy(page.data(), chunks.of.data(), chunks.count * sizeof chunks.of[0]);
}

std::optional<ChunkChecksums> decode_checksums(std::span<const std::byte, kExtentAlignment> page,
                                               const Slot& slot) {
  ChunkChecksums chunks;
  chunks.count = (slot.length + kChunkBytes - 1) / kChunkBytes;
  if (chunks.count < 2 || chunks.count > kMaxChunks) return std::nullopt;
  std::memcpy(chunks.of.data(), page.data(), chunks.count * sizeof chunks.of[0]);
  if (block_checksum(chunks) != slot.checksum) return std::nullopt;
  return chunks;
}

}  // namespace paddle::samplefs
