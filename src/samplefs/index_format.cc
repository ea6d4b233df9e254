// SPDX-License-Identifier: Apache-2.0
#include "samplefs/index_format.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include <xxhash.h>

#include "source/path_rules.h"

namespace paddle::samplefs {
namespace {

NodeId hash_of(std::string_view path, char kind, std::string_view etag, OriginId origin,
               std::uint64_t salt) {
  char text[4096 + 256 + 2 + sizeof origin];  // a path is at most 4095 bytes, an etag 255
  path = path.substr(0, 4096);
  etag = etag.substr(0, 256);
  std::size_t size = path.copy(text, path.size());
  text[size++] = kind;
  size += etag.copy(text + size, etag.size());
  if (origin != 0) {
    std::memcpy(text + size, &origin, sizeof origin);
    size += sizeof origin;
  }
  const NodeId id = XXH3_64bits_withSeed(text, size, salt);
  return id <= kRootId ? id + 2 : id;
}

struct FreeState {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};

std::uint64_t header_hash(const std::byte* file, const IndexLayout& layout) {
  const std::unique_ptr<XXH3_state_t, FreeState> state(XXH3_createState());
  XXH3_64bits_reset(state.get());
  XXH3_64bits_update(state.get(), file, offsetof(IndexHeader, header_hash));
  XXH3_64bits_update(state.get(), file + layout.ledger, layout.end - layout.ledger);
  return XXH3_64bits_digest(state.get());
}

XXH128_hash_t body_hash(const std::byte* file, const IndexLayout& layout) {
  return XXH3_128bits(file + sizeof(IndexHeader), layout.ledger - sizeof(IndexHeader));
}

std::uint64_t chunk_hash(const std::byte* file, const IndexLayout& layout, std::uint64_t chunk) {
  const std::uint64_t begin = layout.nodes + chunk * kIndexChunkSize;
  return XXH3_64bits(file + begin, std::min(kIndexChunkSize, layout.ledger - begin));
}

void put_size(std::string& text, std::size_t size, int bytes) {
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(size >> (8 * i) & 0xff);
}

// Consumes from the front; false when too few bytes are left.
bool take_size(std::string_view& text, int bytes, std::size_t& size) {
  size = 0;
  if (text.size() < static_cast<std::size_t>(bytes)) return false;
  for (int i = 0; i < bytes; ++i) {
    size |= std::size_t{static_cast<unsigned char>(text[static_cast<std::size_t>(i)])} << (8 * i);
  }
  text.remove_prefix(static_cast<std::size_t>(bytes));
  return true;
}
bool take_text(std::string_view& text, std::size_t size, std::string& into) {
  if (text.size() < size) return false;
  into = text.substr(0, size);
  text.remove_prefix(size);
  return true;
}

void put_origin(std::string& text, const Origin& origin) {
  for (const std::string* part : {&origin.uri, &origin.server, &origin.destination}) {
    put_size(text, part->size(), 2);
  }
  text.append(origin.uri).append(origin.server).append(origin.destination);
}
bool take_origin(std::string_view& text, Origin& origin) {
  std::size_t uri = 0, server = 0, destination = 0;
  return take_size(text, 2, uri) && take_size(text, 2, server) && take_size(text, 2, destination) &&
         take_text(text, uri, origin.uri) && take_text(text, server, origin.server) &&
         take_text(text, destination, origin.destination) &&
         (origin.destination.empty() || source::is_path(origin.destination));
}

}  // namespace

bool fits(const IndexHeader& header, std::size_t size) {
  if (header.node_count == 0 || header.text_size > size || header.origins_size > size ||
      header.ledger_size > size ||
      (header.version > kIndexVersionWithoutNotes && header.notes_size > size)) {
    return false;
  }
  if (header.version == kFirstIndexVersion && header.origins_size + header.ledger_size != 0) {
    return false;
  }
  return IndexLayout(header).end == size;
}

NodeId file_id(std::string_view path, std::string_view etag, OriginId origin, std::uint64_t salt) {
  return hash_of(path, '\0', etag, origin, salt);
}

NodeId directory_id(std::string_view path, std::uint64_t salt) {
  return hash_of(path, '/', {}, 0, salt);
}

std::string encode_origins(const std::vector<Origin>& origins) {
  std::string text;
  for (const Origin& origin : origins) put_origin(text, origin);
  return text;
}

std::string encode_notes(const LeftOutNotes& notes) {
  std::string text;
  for (const auto& [origin, left] : notes) {
    put_origin(text, origin);
    put_size(text, left.count, 8);
    put_size(text, left.examples.size(), 1);
    for (const std::string& example : left.examples) {
      put_size(text, example.size(), 2);
      text.append(example);
    }
  }
  return text;
}

std::string encode_ledger(const std::vector<std::string>& ids) {
  std::string text;
  for (const std::string& id : ids) {
    put_size(text, id.size(), 1);
    text.append(id);
  }
  return text;
}

std::optional<std::vector<Origin>> decode_origins(std::string_view text) {
  std::vector<Origin> origins;
  while (!text.empty()) {
    Origin origin;
    if (!take_origin(text, origin)) return std::nullopt;
    if (origin <= (origins.empty() ? Origin{} : origins.back())) return std::nullopt;
    origins.push_back(std::move(origin));
  }
  return origins;
}

std::optional<std::vector<std::string>> decode_ledger(std::string_view text) {
  std::vector<std::string> ids;
  while (!text.empty()) {
    std::size_t size = 0;
    if (!take_size(text, 1, size) || size == 0 || !take_text(text, size, ids.emplace_back())) {
      return std::nullopt;
    }
  }
  return ids;
}

std::optional<LeftOutNotes> decode_notes(std::string_view text) {
  LeftOutNotes notes;
  while (!text.empty()) {
    Origin origin;
    source::LeftOut left;
    std::size_t count = 0, examples = 0;
    if (!take_origin(text, origin) || !take_size(text, 8, count) || !take_size(text, 1, examples) ||
        examples > source::LeftOut::kMostExamples || examples > count) {
      return std::nullopt;
    }
    left.count = count;
    while (examples-- > 0) {
      std::size_t size = 0;
      if (!take_size(text, 2, size) || size > source::LeftOut::kLongestExample ||
          !take_text(text, size, left.examples.emplace_back()) ||
          !source::is_printable(left.examples.back())) {
        return std::nullopt;
      }
    }
    if (!notes.empty() && origin <= notes.rbegin()->first) return std::nullopt;
    notes.emplace(std::move(origin), std::move(left));
  }
  return notes;
}

void seal_index(std::byte* file, std::size_t size) {
  IndexHeader header;
  std::memcpy(&header, file, sizeof header);
  if (!fits(header, size)) return;
  const IndexLayout layout(header);
  for (std::uint64_t chunk = 0; chunk < layout.chunk_count; ++chunk) {
    const std::uint64_t hash = chunk_hash(file, layout, chunk);
    std::memcpy(file + layout.chunks + chunk * sizeof hash, &hash, sizeof hash);
  }
  const XXH128_hash_t body = body_hash(file, layout);
  header.body_hash[0] = body.low64;
  header.body_hash[1] = body.high64;
  std::memcpy(file, &header, sizeof header);
  header.header_hash = header_hash(file, layout);
  std::memcpy(file, &header, sizeof header);
}

bool header_is_sealed(const std::byte* file, const IndexLayout& layout) {
  IndexHeader header;
  std::memcpy(&header, file, sizeof header);
  return header.header_hash == header_hash(file, layout);
}

bool chunk_is_sealed(const std::byte* file, const IndexLayout& layout, std::uint64_t chunk) {
  std::uint64_t hash = 0;
  std::memcpy(&hash, file + layout.chunks + chunk * sizeof hash, sizeof hash);
  return hash == chunk_hash(file, layout, chunk);
}

bool body_is_sealed(const std::byte* file, const IndexLayout& layout) {
  IndexHeader header;
  std::memcpy(&header, file, sizeof header);
  const XXH128_hash_t body = body_hash(file, layout);
  if (header.body_hash[0] != body.low64 || header.body_hash[1] != body.high64) return false;
  for (std::uint64_t chunk = 0; chunk < layout.chunk_count; ++chunk) {
    if (!chunk_is_sealed(file, layout, chunk)) return false;
  }
  return true;
}

}  // namespace paddle::samplefs
