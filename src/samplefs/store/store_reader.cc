// SPDX-License-Identifier: Apache-2.0
#include "samplefs/store/store_reader.h"

namespace paddle::samplefs {

StoreReader::StoreReader(const std::vector<std::string>& directories, FileLayer& files)
    : files_(files), count_(directories.size()) {
  Lock lock(mutex_);
  for (const std::string& path : directories) tiers_.push_back({.path = path});
}

// The owner replaces the table when it grows, and begins again in a directory that was removed.
std::shared_ptr<SlotTable> StoreReader::table_of(Tier& tier) {
  if (tier.table && tier.table->linked()) return tier.table;
  tier = {.path = tier.path};
  if (files_.open_directory(tier.path, false, tier.directory) != 0) return nullptr;
  std::unique_ptr<SlotTable> table;
  const int number =
      SlotTable::open(*tier.directory, "slots", OpenMode::kRead, files_.boot(), table);
  if (number == 0) tier.table = std::move(table);
  return tier.table;
}

std::optional<Slot> StoreReader::find(std::size_t tier, const Block& block) {
  std::shared_ptr<SlotTable> table;
  {
    Lock lock(mutex_);
    table = table_of(tiers_[tier]);
  }
  if (!table) return std::nullopt;
  SlotTable::Found found = table->find(block.key);
  if (!found.slot && found.damaged) found = table->find(block.key);
  if (!found.slot || !is_of(*found.slot, block)) return std::nullopt;
  return found.slot;
}

std::shared_ptr<StoreFile> StoreReader::segment_of(std::size_t tier, std::uint32_t number) {
  Lock lock(mutex_);
  Tier& of = tiers_[tier];
  if (!of.directory) return nullptr;
  const auto known = of.segments.find(number);
  FileSize size;
  if (known != of.segments.end() && known->second->size(size) == 0 && size.linked) {
    return known->second;
  }
  if (known != of.segments.end()) of.segments.erase(known);  // its space is free when it is closed
  std::unique_ptr<StoreFile> file;
  const int failed =
      of.directory->open(segment_file(number), OpenMode::kRead, Caching::kDirect, file);
  if (failed != 0) return nullptr;
  return of.segments[number] = std::move(file);
}

bool StoreReader::read(const Block& block, std::uint64_t offset, std::span<std::byte> into) {
  for (std::size_t i = 0; i < count_; ++i) {
    const auto slot = find(i, block);
    if (!slot) continue;
    const auto file = segment_of(i, slot->segment);
    if (file && read_extent(*file, *slot, offset, into, lists_).state == ExtentState::kRight) {
      return true;
    }
  }
  return false;
}

std::optional<Extent> StoreReader::locate(const Block& block) {
  for (std::size_t i = 0; i < count_; ++i) {
    const auto slot = find(i, block);
    if (!slot) continue;
    return Extent{.segment = {.tier = static_cast<std::uint32_t>(i), .number = slot->segment},
                  .offset = slot->offset(),
                  .length = slot->length,
                  .checksum = slot->checksum};
  }
  return std::nullopt;
}

std::uint64_t StoreReader::count() {
  std::uint64_t blocks = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    std::shared_ptr<SlotTable> table;
    {
      Lock lock(mutex_);
      table = table_of(tiers_[i]);
    }
    if (table) (void)table->for_each(0, table->slots(), [&](auto, const Slot&) { ++blocks; });
  }
  return blocks;
}

}  // namespace paddle::samplefs
