// SPDX-License-Identifier: Apache-2.0
//
// The format of a block on disk: its data from offset 0 on (aligned for O_DIRECT), then its
// identity. All numbers are little-endian.
//
//   +----------------------+-----------+---------+
//   | data: length bytes   | etag      | Trailer |
//   +----------------------+-----------+---------+
//
// The file is named by the block's key in hexadecimal; the trailer repeats it. data_hash is XXH3-64
// of the data, trailer_hash XXH3-64 of the etag and the trailer before it. A block whose size,
// trailer or data is not exactly as expected is a miss and is never served.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "samplefs/block.h"

namespace paddle::samplefs {

inline constexpr char kBlockMagic[8] = {'P', 'D', 'L', 'B', 'L', 'O', 'C', 'K'};

struct BlockTrailer {
  char magic[8] = {};
  std::uint32_t version = 1;
  std::uint32_t etag_size = 0;
  std::uint64_t key_high = 0;
  std::uint64_t key_low = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::uint64_t file_size = 0;
  std::uint64_t data_hash = 0;
  std::uint64_t trailer_hash = 0;
};
static_assert(sizeof(BlockTrailer) == 72);

inline std::uint64_t stored_size(const Block& block) {
  return block.length + block.etag.size() + sizeof(BlockTrailer);
}

// Returns etag and trailer, which follow the data.
std::string block_tail(const Block& block, std::span<const std::byte> data);

// REQUIRES: data.size() == block.length.
bool block_is_whole(const Block& block, std::span<const std::byte> data,
                    std::span<const std::byte> tail);

}  // namespace paddle::samplefs
