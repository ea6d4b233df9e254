// SPDX-License-Identifier: Apache-2.0
//
// The index file: one immutable generation of a sample set. All numbers little-endian.
//
//   0        128
//   header   nodes          ids              texts         origins    ledger   left out   chunks
//   +--------+--------------+----------------+-------------+----------+--------+----------+------+
//   | Header | Node x count | IdSlot x count | name etag . | Origin.. | id id  | notes .. | hash |
//   +--------+--------------+----------------+-------------+----------+--------+----------+------+
//
//   nodes    breadth first: node 0 is the root, the children of a directory stand together, sorted
//            by name (bytes), behind their parent. A directory has no etag.
//   ids      sorted by id, each pointing at its node.
//   texts    the bytes of each name, then of its etag, then of its version id at the source, if it
//            has one; a node says where.
//   origins  where files came from, besides the set's own source at the root, which has the number
//            0: three sizes of 16 bits, then uri, server and destination. Sorted, each once, from
//            number 1 on.
//   ledger   ids of the jobs that made the latest generations, the last one last: a size of 8 bits
//            each, then the id.
//   left out what the latest sync of an origin could not take: an origin as above, a count of 64
//            bits, a number of examples of 8 bits, and each of those with a size of 16 bits. Sorted
//            by origin, each once.
//   chunks   XXH3-64 of each 64 KiB of the body, which is nodes, ids, texts and origins: so that a
//            part of it can be checked when it is first read.
//
// body_hash is XXH3-128 over the body, and is the digest of the generation: what there is, not who
// made it. header_hash is XXH3-64 over the header before it and what stands behind the body. An id
// is XXH3-64 of path, etag and origin, seeded with `salt` (0 unless two ids met). The file is
// hostile input: see index_reader.cc for what is checked.
//
// Earlier versions are read and no longer written. Version 1 had nodes without an origin, of 48
// bytes, and neither origins nor ledger: all files are of the set's own source. Version 2 had no
// notes of what was left out, only the sum. Version 3 had neither version ids nor chunks.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "samplefs/file_system.h"
#include "samplefs/origin.h"
#include "source/left_out.h"

namespace paddle::samplefs {

static_assert(std::endian::native == std::endian::little);

inline constexpr char kIndexMagic[8] = {'P', 'D', 'L', 'I', 'N', 'D', 'E', 'X'};
inline constexpr std::uint32_t kIndexVersion = 4;
inline constexpr std::uint32_t kIndexVersionWithoutChunks = 3;
inline constexpr std::uint32_t kIndexVersionWithoutNotes = 2;
inline constexpr std::uint32_t kFirstIndexVersion = 1;

// Of the body; the last chunk may be shorter.
inline constexpr std::uint64_t kIndexChunkSize = std::uint64_t{64} << 10;

struct IndexHeader {
  char magic[8] = {};
  std::uint32_t version = 0;
  std::uint32_t node_count = 0;
  std::uint64_t file_size = 0;  // of the index
  std::uint64_t generation = 0;
  std::uint64_t salt = 0;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;     // of all files
  std::uint64_t left_out = 0;  // in sum
  std::uint64_t text_size = 0;
  std::uint64_t origins_size = 0;
  std::uint64_t ledger_size = 0;
  std::uint64_t synced = 0;      // the generation that the latest sync made; in version 1: 0
  std::uint64_t notes_size = 0;  // of what was left out; before version 3: no part
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
  std::uint32_t origin = 0;
  std::uint8_t version_size = 0;  // of the version id
  std::uint8_t reserved[3] = {};
};
static_assert(sizeof(IndexNode) == 56);
inline constexpr std::uint64_t kFirstNodeSize = 48;  // of version 1: without what is behind
static_assert(offsetof(IndexNode, origin) == kFirstNodeSize);

struct IdSlot {
  std::uint64_t id = 0;
  std::uint32_t node = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(IdSlot) == 16);

// Where the parts of an index of that shape begin; count <= 2^32 and sizes that are not larger than
// a file keep all sums within 64 bits.
struct IndexLayout {
  std::uint64_t node_size = 0;
  std::uint64_t nodes = sizeof(IndexHeader);
  std::uint64_t ids = 0;
  std::uint64_t texts = 0;
  std::uint64_t origins = 0;
  std::uint64_t ledger = 0;
  std::uint64_t notes = 0;
  std::uint64_t chunks = 0;
  std::uint64_t chunk_count = 0;
  std::uint64_t end = 0;
  IndexLayout() = default;
  explicit IndexLayout(const IndexHeader& header)
      : node_size(header.version == kFirstIndexVersion ? kFirstNodeSize : sizeof(IndexNode)),
        ids(nodes + std::uint64_t{header.node_count} * node_size),
        texts(ids + std::uint64_t{header.node_count} * sizeof(IdSlot)),
        origins(texts + header.text_size),
        ledger(origins + header.origins_size),
        notes(ledger + header.ledger_size),
        chunks(notes + (header.version > kIndexVersionWithoutNotes ? header.notes_size : 0)),
        chunk_count(header.version > kIndexVersionWithoutChunks
                        ? (ledger - nodes + kIndexChunkSize - 1) / kIndexChunkSize
                        : 0),
        end(chunks + chunk_count * sizeof(std::uint64_t)) {}
};

// Whether a file of that size has the shape that its header tells.
bool fits(const IndexHeader& header, std::size_t size);

// Never 0 and never kRootId.
NodeId file_id(std::string_view path, std::string_view etag, OriginId origin, std::uint64_t salt);
NodeId directory_id(std::string_view path, std::uint64_t salt);

using LeftOutNotes = std::map<Origin, source::LeftOut>;

// The texts of the last parts.
std::string encode_origins(const std::vector<Origin>& origins);
std::string encode_ledger(const std::vector<std::string>& ids);
std::string encode_notes(const LeftOutNotes& notes);
// Nothing for what is damaged.
std::optional<std::vector<Origin>> decode_origins(std::string_view text);
std::optional<std::vector<std::string>> decode_ledger(std::string_view text);
std::optional<LeftOutNotes> decode_notes(std::string_view text);

// Fills in all hashes of a whole index file in memory; not of one that does not fit.
void seal_index(std::byte* file, std::size_t size);
// Whether a file that fits has the right hashes: of the header and what stands behind the body; of
// one chunk; of the whole body and each of its chunks.
bool header_is_sealed(const std::byte* file, const IndexLayout& layout);
bool chunk_is_sealed(const std::byte* file, const IndexLayout& layout, std::uint64_t chunk);
bool body_is_sealed(const std::byte* file, const IndexLayout& layout);

}  // namespace paddle::samplefs
