// SPDX-License-Identifier: Apache-2.0
//
// The index file: one immutable generation of a sample set. All numbers little-endian.
//
//   0          128            nodes            ids              texts                     end
//   +----------+----------------+----------------+-----------------+-----------------------+
//   | Header   | Node x count   | IdSlot x count | name etag name etag ...                 |
//   +----------+----------------+----------------+-----------------------------------------+
//
//   nodes   breadth first: node 0 is the root, the children of a directory stand together, sorted
//           by name (bytes), behind their parent. A directory has no etag.
//   ids     sorted by id, each pointing at its node.
//   texts   the bytes of each name, then of its etag; a node says where.
//
// body_hash is XXH3-128 over everything behind the header and is the digest of the generation;
// header_hash is XXH3-64 over the header before it. An id is XXH3-64 of path and etag, seeded with
// `salt` (0 unless two ids met). The file is hostile input: see index_reader.cc for what is
// checked.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "samplefs/file_system.h"

namespace paddle::samplefs {

static_assert(std::endian::native == std::endian::little);

inline constexpr char kIndexMagic[8] = {'P', 'D', 'L', 'I', 'N', 'D', 'E', 'X'};
inline constexpr std::uint32_t kIndexVersion = 1;

struct IndexHeader {
  char magic[8] = {};
  std::uint32_t version = 0;
  std::uint32_t node_count = 0;
  std::uint64_t file_size = 0;  // of the index
  std::uint64_t generation = 0;
  std::uint64_t salt = 0;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;  // of all files
  std::uint64_t left_out = 0;
  std::uint64_t text_size = 0;
  std::uint64_t reserved[4] = {};
  std::uint64_t body_hash[2] = {};
  std::uint64_t header_hash = 0;
};
static_assert(sizeof(IndexHeader) == 128);

enum class NodeKind : std::uint8_t { kFile = 0, kDirectory = 1 };

struct IndexNode {
  std::uint64_t id = 0;
  std::uint64_t size = 0;
  std::int64_t modified_us = 0;  // of a directory: the latest of what is beneath
  std::uint64_t text = 0;        // of the name, relative to the texts
  std::uint32_t parent = 0;      // 0 for the root
  std::uint32_t first_child = 0;
  std::uint32_t child_count = 0;
  std::uint16_t name_size = 0;
  std::uint8_t etag_size = 0;
  NodeKind kind = NodeKind::kFile;
};
static_assert(sizeof(IndexNode) == 48);

struct IdSlot {
  std::uint64_t id = 0;
  std::uint32_t node = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(IdSlot) == 16);

// Where the parts of an index of that shape begin; count <= 2^32 keeps all sums within 64 bits.
struct IndexLayout {
  std::uint64_t nodes = sizeof(IndexHeader);
  std::uint64_t ids = 0;
  std::uint64_t texts = 0;
  std::uint64_t end = 0;
  IndexLayout(std::uint32_t count, std::uint64_t text_size)
      : ids(nodes + std::uint64_t{count} * sizeof(IndexNode)),
        texts(ids + std::uint64_t{count} * sizeof(IdSlot)),
        end(texts + text_size) {}
};

// Never 0 and never kRootId.
NodeId file_id(std::string_view path, std::string_view etag, std::uint64_t salt);
NodeId directory_id(std::string_view path, std::uint64_t salt);

// Fills in the two hashes of a whole index file in memory.
void seal_index(std::byte* file, std::size_t size);
bool index_is_sealed(const std::byte* file, std::size_t size);

}  // namespace paddle::samplefs
