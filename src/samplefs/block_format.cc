// SPDX-License-Identifier: Apache-2.0
#include "samplefs/block_format.h"

#include <cstring>

#include <xxhash.h>

namespace paddle::samplefs {

std::string block_tail(const Block& block, std::span<const std::byte> data) {
  BlockTrailer trailer{.etag_size = static_cast<std::uint32_t>(block.etag.size()),
                       .key_high = block.key.high,
                       .key_low = block.key.low,
                       .offset = block.offset,
                       .length = block.length,
                       .file_size = block.file_size,
                       .data_hash = XXH3_64bits(data.data(), data.size())};
  std::memcpy(trailer.magic, kBlockMagic, sizeof kBlockMagic);
  std::string tail(block.etag);
  tail.append(reinterpret_cast<const char*>(&trailer), sizeof trailer);
  const std::uint64_t hash = XXH3_64bits(tail.data(), tail.size() - sizeof hash);
  std::memcpy(tail.data() + tail.size() - sizeof hash, &hash, sizeof hash);
  return tail;
}

bool block_is_whole(const Block& block, std::span<const std::byte> data,
                    std::span<const std::byte> tail) {
  const std::string expected = block_tail(block, data);
  return tail.size() == expected.size() &&
         std::memcmp(tail.data(), expected.data(), tail.size()) == 0;
}

}  // namespace paddle::samplefs
