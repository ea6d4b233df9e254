// SPDX-License-Identifier: Apache-2.0
//
// Reads the blocks of a store that another process owns and writes: a standby server, a check, a
// process that trusts the owner with nothing. Nothing is mapped, links are not followed, numbers
// are checked before use, and each byte is verified; what does not check is a miss. Takes no lock
// and changes nothing.
//
// Thread-safe.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/sync.h"
#include "samplefs/block.h"
#include "samplefs/store/disk_files.h"
#include "samplefs/store/extent_io.h"
#include "samplefs/store/slot_table.h"

namespace paddle::samplefs {

class StoreReader {
 public:
  // The directories of the tiers, in their order. A tier that cannot be opened yet has no block.
  explicit StoreReader(const std::vector<std::string>& directories,
                       FileLayer& files = disk_files());

  bool read(const Block& block, std::uint64_t offset, std::span<std::byte> into) EXCLUDES(mutex_);
  std::optional<Extent> locate(const Block& block) EXCLUDES(mutex_);
  std::uint64_t count() EXCLUDES(mutex_);  // blocks; reads all slots

 private:
  struct Tier {
    std::string path{};
    std::unique_ptr<StoreDirectory> directory{};
    std::shared_ptr<SlotTable> table{};
    std::map<std::uint32_t, std::shared_ptr<StoreFile>> segments{};
  };

  std::optional<Slot> find(std::size_t tier, const Block& block) EXCLUDES(mutex_);
  std::shared_ptr<SlotTable> table_of(Tier& tier) REQUIRES(mutex_);
  std::shared_ptr<StoreFile> segment_of(std::size_t tier, std::uint32_t number) EXCLUDES(mutex_);

  FileLayer& files_;
  ChecksumLists lists_;  // self-synchronised
  const std::size_t count_;
  Mutex mutex_;
  std::vector<Tier> tiers_ GUARDED_BY(mutex_);
};

}  // namespace paddle::samplefs
