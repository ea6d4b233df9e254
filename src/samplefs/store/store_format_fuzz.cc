// SPDX-License-Identifier: Apache-2.0
//
// Arbitrary bytes as a slot table and a segment, with correct checks so that later ones are
// reached: a reader in another process opens them or not, and never takes a byte for right that
// does not belong to the slot's checksum. The table's owner survives them, too.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/log.h"
#include "samplefs/store/memory_files.h"
#include "samplefs/store/store_reader.h"
#include "samplefs/store/tier.h"

namespace paddle::samplefs {
namespace {

// A table of kMinSlots whose slots are taken from the input.
std::string table_of(const std::uint8_t* data, std::size_t size, std::vector<Slot>& slots) {
  std::string table(table_size(kMinSlots), '\0');
  TableHeader header{.epoch = 1, .slots = kMinSlots, .boot = 1};
  if (size > 0 && data[0] == 0) header.slots = std::uint64_t{1} << 33;  // refused
  header = with_check(header);
  std::memcpy(table.data(), &header, sizeof header);
  for (std::size_t i = 0; (i + 1) * sizeof(Slot) <= size && i < kMinSlots; ++i) {
    Slot slot;
    std::memcpy(&slot, data + i * sizeof slot, sizeof slot);
    // Small numbers, so that some extents lie within the segment.
    slot.segment %= 3;
    slot.page = slot.reserved[0] % 2 ? slot.page % 8 : slot.page;
    slot.length = slot.reserved[0] % 4 ? slot.length % 400'000 : slot.length;
    slot.state = static_cast<SlotState>(static_cast<std::uint8_t>(slot.state) % 5);
    if (slot.reserved[1] % 8 != 0) slot = with_check(slot);
    std::memcpy(table.data() + kFirstSlot + i * sizeof slot, &slot, sizeof slot);
    slots.push_back(slot);
  }
  return table;
}

}  // namespace
}  // namespace paddle::samplefs

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace paddle::samplefs;
  paddle::log::set_level(paddle::log::Level::kError);
  std::vector<Slot> slots;
  MemoryFiles files;
  files.set_content("slots", table_of(data, size, slots));
  files.set_content("segment.1", std::string(reinterpret_cast<const char*>(data), size));
  files.set_content("segment.2", std::string(20'000, 'x'));

  StoreReader reader({"cache"}, files);
  const auto tier =
      Tier::open({.directory = "cache", .limit = 1 << 20}, files, paddle::system_clock());
  for (const Slot& slot : slots) {
    const auto length = std::min<std::uint64_t>(slot.length, kBlockSize);
    if (length == 0) continue;
    const Block block{.path = "a",
                      .object = "a",
                      .etag = "v",
                      .file_size = slot.file_size,
                      .length = slot.length,
                      .key = slot.key()};
    std::string into(length, '?');
    const auto span = std::as_writable_bytes(std::span(into));
    const auto right = [&] { return block_checksum(std::as_bytes(std::span(into))); };
    const auto extent = reader.locate(block);
    if (extent && extent->offset % kExtentAlignment != 0) std::abort();
    if (reader.read(block, 0, span) && (!extent || right() != extent->checksum)) std::abort();
    if (tier) {
      (*tier)->read(block, length / 2, span.first(1));
      (*tier)->read(block, 0, span);
    }
  }
  if (tier) {
    (*tier)->maintain();
    const std::string bytes(5000, 'n');
    const Block block = block_at("new", "v", bytes.size(), 0);
    if ((*tier)->put(block, std::as_bytes(std::span(bytes))) == Tier::Put::kStored) {
      std::string into(bytes.size(), '?');
      if (!(*tier)->read(block, 0, std::as_writable_bytes(std::span(into))) || into != bytes) {
        std::abort();
      }
    }
    (*tier)->flush();
  }
  return 0;
}
