// SPDX-License-Identifier: Apache-2.0
#include "samplefs/block.h"

#include <charconv>
#include <cstdio>

#include <xxhash.h>

namespace paddle::samplefs {

std::string hex(const BlockKey& key) {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(key.high),
                static_cast<unsigned long long>(key.low));
  return text;
}

bool parse_hex(std::string_view text, BlockKey& key) {
  if (text.size() != 32) return false;
  const bool digits = std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
  if (!digits) return false;
  std::from_chars(text.data(), text.data() + 16, key.high, 16);
  std::from_chars(text.data() + 16, text.data() + 32, key.low, 16);
  return true;
}

Block block_at(const FileVersion& file, std::uint64_t at) {
  const std::uint64_t offset = at - at % kBlockSize;
  // Neither a path nor an etag contains a NUL, so the three parts are unambiguous.
  std::string text;
  text.reserve(file.path.size() + file.etag.size() + 2 + sizeof offset + sizeof file.origin);
  text.append(file.path).append(1, '\0').append(file.etag).append(1, '\0');
  text.append(reinterpret_cast<const char*>(&offset), sizeof offset);
  if (file.origin != 0) {
    text.append(reinterpret_cast<const char*>(&file.origin), sizeof file.origin);
  }
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return {.path = file.path,
          .object = file.object,
          .etag = file.etag,
          .origin = file.origin,
          .file_size = file.size,
          .offset = offset,
          .length = std::min(kBlockSize, file.size - offset),
          .key = {.high = hash.high64, .low = hash.low64},
          .version_id = file.version_id};
}

Block block_at(std::string_view path, std::string_view etag, std::uint64_t file_size,
               std::uint64_t at) {
  return block_at({.path = path, .object = path, .etag = etag, .size = file_size, .origin = 0}, at);
}

}  // namespace paddle::samplefs
