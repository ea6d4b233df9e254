// SPDX-License-Identifier: Apache-2.0
//
// The unit of caching: a whole sample, or one of the equal parts of a large file. A block is named
// by content: path, etag, origin and where it begins. Pure.

#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "samplefs/origin.h"

namespace paddle::samplefs {

// Most samples are smaller. A block is large enough that the transfer dominates the cost of one
// request to an object store, and small enough to have sixteen of them in memory at once.
inline constexpr std::uint64_t kBlockSize = std::uint64_t{4} << 20;

struct BlockKey {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  auto operator<=>(const BlockKey&) const = default;
};

struct BlockKeyHash {
  std::size_t operator()(const BlockKey& key) const noexcept { return key.low; }
};

std::string hex(const BlockKey& key);  // 32 digits
bool parse_hex(std::string_view text, BlockKey& key);

// One version of a file. The caller owns the texts.
struct FileVersion {
  std::string_view path{};
  std::string_view object{};  // its key at the source
  std::string_view etag{};
  std::uint64_t size = 0;
  OriginId origin = 0;
  std::string_view
      version_id{};  // at the source; the same bytes under another id are the same block
};

// One block of one version of a file. The caller owns the texts.
struct Block {
  std::string_view path{};
  std::string_view object{};
  std::string_view etag{};
  OriginId origin = 0;
  std::uint64_t file_size = 0;
  std::uint64_t offset = 0;  // of the block in the file; a multiple of kBlockSize
  std::uint64_t length = 0;
  BlockKey key{};
  std::string_view version_id{};
};

// REQUIRES: at < size of the file.
Block block_at(const FileVersion& file, std::uint64_t at);
// The block of a file from the set's own source at the root.
Block block_at(std::string_view path, std::string_view etag, std::uint64_t file_size,
               std::uint64_t at);

inline std::uint64_t block_count(std::uint64_t file_size) {
  return (file_size + kBlockSize - 1) / kBlockSize;
}

}  // namespace paddle::samplefs
