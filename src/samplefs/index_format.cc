// SPDX-License-Identifier: Apache-2.0
#include "samplefs/index_format.h"

#include <cstring>

#include <xxhash.h>

namespace paddle::samplefs {
namespace {

NodeId id_of(std::string_view path, char kind, std::string_view etag, std::uint64_t salt) {
  char text[4096 + 256 + 2];  // a path is at most 4095 bytes, an etag 255
  path = path.substr(0, 4096);
  etag = etag.substr(0, 256);
  std::size_t size = path.copy(text, path.size());
  text[size++] = kind;
  size += etag.copy(text + size, etag.size());
  const NodeId id = XXH3_64bits_withSeed(text, size, salt);
  return id <= kRootId ? id + 2 : id;
}

std::uint64_t header_hash(const std::byte* file) {
  return XXH3_64bits(file, offsetof(IndexHeader, header_hash));
}

XXH128_hash_t body_hash(const std::byte* file, std::size_t size) {
  return XXH3_128bits(file + sizeof(IndexHeader), size - sizeof(IndexHeader));
}

}  // namespace

NodeId file_id(std::string_view path, std::string_view etag, std::uint64_t salt) {
  return id_of(path, '\0', etag, salt);
}

NodeId directory_id(std::string_view path, std::uint64_t salt) {
  return id_of(path, '/', {}, salt);
}

void seal_index(std::byte* file, std::size_t size) {
  IndexHeader header;
  std::memcpy(&header, file, sizeof header);
  const XXH128_hash_t body = body_hash(file, size);
  header.body_hash[0] = body.low64;
  header.body_hash[1] = body.high64;
  std::memcpy(file, &header, sizeof header);
  header.header_hash = header_hash(file);
  std::memcpy(file, &header, sizeof header);
}

bool index_is_sealed(const std::byte* file, std::size_t size) {
  IndexHeader header;
  std::memcpy(&header, file, sizeof header);
  if (header.header_hash != header_hash(file)) return false;
  const XXH128_hash_t body = body_hash(file, size);
  return header.body_hash[0] == body.low64 && header.body_hash[1] == body.high64;
}

}  // namespace paddle::samplefs
