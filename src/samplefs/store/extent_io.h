// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes blocks in a segment's file. Every byte is verified each time it is read: a read
// of a part reads the chunks that the part touches.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "base/sync.h"
#include "samplefs/store/file_layer.h"
#include "samplefs/store/format.h"

namespace paddle::samplefs {

// The verified checksum lists of blocks that were read in parts, by the checksum of the list.
// Thread-safe.
class ChecksumLists {
 public:
  bool find(std::uint64_t checksum, ChunkChecksums& into) const EXCLUDES(mutex_);
  void add(std::uint64_t checksum, const ChunkChecksums& chunks) EXCLUDES(mutex_);

 private:
  static constexpr std::size_t kMost = 2048;  // half a megabyte; 8 GiB of large files

  mutable Mutex mutex_;
  std::unordered_map<std::uint64_t, ChunkChecksums> lists_ GUARDED_BY(mutex_);
};

enum class ExtentState {
  kRight,
  kDamaged,     // bytes that were not written there, or none
  kUnreadable,  // an error of the disk
  kBusy,        // a shortage of this process; the block may be intact
};

struct ReadOutcome {
  ExtentState state = ExtentState::kRight;
  int number = 0;  // errno
};

// REQUIRES: a range of the block's data that is not empty. `into` is undefined unless kRight.
ReadOutcome read_extent(StoreFile& file, const Slot& slot, std::uint64_t offset,
                        std::span<std::byte> into, ChecksumLists& lists);

// Writes data, zeros and checksums. Returns 0 or an errno.
int write_extent(StoreFile& file, std::uint64_t at, std::span<const std::byte> data,
                 const ChunkChecksums& chunks);

}  // namespace paddle::samplefs
