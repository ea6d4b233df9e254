// SPDX-License-Identifier: Apache-2.0
#include "samplefs/index.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "source/path_rules.h"

namespace paddle::samplefs {

bool Index::is_sound(std::uint64_t begin, std::uint64_t size) const {
  if (!chunks_ || size == 0) return true;
  const std::uint64_t last = (begin - layout_.nodes + size - 1) / kIndexChunkSize;
  for (std::uint64_t at = (begin - layout_.nodes) / kIndexChunkSize; at <= last; ++at) {
    Chunk state = chunks_[at].load(std::memory_order_relaxed);
    if (state == Chunk::kUnknown) {
      state = chunk_is_sealed(file_.data(), layout_, at) ? Chunk::kSound : Chunk::kDamaged;
      chunks_[at].store(state, std::memory_order_relaxed);
    }
    if (state == Chunk::kDamaged) {
      note_damage();
      return false;
    }
  }
  return true;
}

IndexNode Index::node(Position position) const {
  IndexNode found;
  if (position >= header_.node_count) return found;
  const std::uint64_t begin = layout_.nodes + std::uint64_t{position} * layout_.node_size;
  if (is_sound(begin, layout_.node_size)) {
    std::memcpy(&found, file_.data() + begin, layout_.node_size);
  }
  return found;
}

IdSlot Index::slot(Position position) const {
  IdSlot found{.id = 0, .node = UINT32_MAX};
  const std::uint64_t begin = layout_.ids + std::uint64_t{position} * sizeof found;
  if (is_sound(begin, sizeof found)) std::memcpy(&found, file_.data() + begin, sizeof found);
  return found;
}

std::string_view Index::text(std::uint64_t offset, std::size_t size) const {
  if (offset > header_.text_size || size > header_.text_size - offset) return {};
  if (!is_sound(layout_.texts + offset, size)) return {};
  return {reinterpret_cast<const char*>(file_.data() + layout_.texts + offset), size};
}

// What verify() checks of one node, for those that are read before it.
bool Index::is_valid(const IndexNode& at, bool root) const {
  if (root) return at.kind == NodeKind::kDirectory && at.id == kRootId;
  if (at.id <= kRootId || !source::is_name(name(at))) return false;
  if (at.kind == NodeKind::kDirectory) return true;
  return at.kind == NodeKind::kFile && at.size <= INT64_MAX && at.origin < origins_.size() &&
         source::is_etag(etag(at));
}

std::optional<Index::Position> Index::find(NodeId id) const {
  Position low = 0;
  Position high = size();
  while (low < high) {
    const Position middle = low + (high - low) / 2;
    const IdSlot at = slot(middle);
    if (at.id == 0) return {};  // damaged: ids are greater
    if (at.id == id) {
      if (at.node < size() && node(at.node).id == id) return at.node;
      note_damage();
      return {};
    }
    (at.id < id ? low : high) = at.id < id ? middle + 1 : middle;
  }
  return {};
}

std::optional<Index::Position> Index::child(Position directory, std::string_view wanted) const {
  const auto [first, count] = children(directory);
  Position low = first;
  Position high = first + count;
  while (low < high) {
    const Position middle = low + (high - low) / 2;
    const int order = name(node(middle)).compare(wanted);
    if (order == 0) return middle;
    (order < 0 ? low : high) = order < 0 ? middle + 1 : middle;
  }
  return {};
}

std::optional<Index::Position> Index::resolve(std::string_view path) const {
  Position at = kRoot;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const auto next = child(at, path.substr(0, slash));
    if (!next) return {};
    at = *next;
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  return at;
}

Index::Entry Index::at(Position position) const {
  const IndexNode found = node(position);
  if (!verified_.load(std::memory_order_relaxed) && !is_valid(found, position == kRoot)) {
    note_damage();
    return {.position = position};
  }
  return {.position = position,
          .id = found.id,
          .directory = found.kind == NodeKind::kDirectory,
          .size = found.size,
          .modified = WallTime{std::chrono::microseconds{found.modified_us}},
          .name = name(found),
          .etag = etag(found),
          .version_id = text(found.text + found.name_size + found.etag_size, found.version_size),
          .origin = found.origin};
}

std::string Index::path_of(Position position) const {
  std::string path;
  // A parent precedes its children, so this terminates.
  while (position != kRoot) {
    const IndexNode at = node(position);
    const auto part = name(at);
    if (part.empty() || at.parent >= position) {
      note_damage();
      return {};
    }
    path.insert(0, path.empty() ? std::string(part) : std::string(part) + "/");
    position = at.parent;
  }
  return path;
}

Index::Children Index::children(Position directory) const {
  const IndexNode at = node(directory);
  if (at.first_child > size() || at.child_count > size() - at.first_child) return {};
  return {.first = at.first_child, .count = at.child_count};
}

const Origin& Index::origin(std::uint32_t number) const {
  return origins_[number < origins_.size() ? number : 0].origin;
}

OriginId Index::origin_id(std::uint32_t number) const {
  return origins_[number < origins_.size() ? number : 0].id;
}

bool Index::was_made_by(std::string_view job) const {
  return !job.empty() && std::find(ledger_.begin(), ledger_.end(), job) != ledger_.end();
}

Block Index::block(const Entry& entry, std::string_view path, std::uint64_t at) const {
  return block_at({.path = path,
                   .object = object_of(path, origin(entry.origin).destination),
                   .etag = entry.etag,
                   .size = entry.size,
                   .origin = origin_id(entry.origin),
                   .version_id = entry.version_id},
                  at);
}

std::string Index::digest() const {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx",
                static_cast<unsigned long long>(header_.body_hash[1]),
                static_cast<unsigned long long>(header_.body_hash[0]));
  return text;
}

}  // namespace paddle::samplefs
