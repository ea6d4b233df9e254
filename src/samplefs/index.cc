// SPDX-License-Identifier: Apache-2.0
#include "samplefs/index.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace paddle::samplefs {

IndexNode Index::node(Position position) const {
  IndexNode found;
  if (position >= header_.node_count) return found;
  std::memcpy(&found, file_.data() + layout_.nodes + std::uint64_t{position} * layout_.node_size,
              layout_.node_size);
  return found;
}

IdSlot Index::slot(Position position) const {
  IdSlot found;
  std::memcpy(&found, file_.data() + layout_.ids + std::uint64_t{position} * sizeof found,
              sizeof found);
  return found;
}

std::string_view Index::text(std::uint64_t offset, std::size_t size) const {
  if (offset > header_.text_size || size > header_.text_size - offset) return {};
  return {reinterpret_cast<const char*>(file_.data() + layout_.texts + offset), size};
}

std::optional<Index::Position> Index::find(NodeId id) const {
  Position low = 0;
  Position high = size();
  while (low < high) {
    const Position middle = low + (high - low) / 2;
    const IdSlot at = slot(middle);
    if (at.id == id) return at.node < size() ? std::optional(at.node) : std::nullopt;
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
  return {.position = position,
          .id = found.id,
          .directory = found.kind == NodeKind::kDirectory,
          .size = found.size,
          .modified = WallTime{std::chrono::microseconds{found.modified_us}},
          .name = name(found),
          .etag = text(found.text + found.name_size, found.etag_size),
          .origin = found.origin};
}

std::string Index::path_of(Position position) const {
  std::string path;
  // A parent precedes its children, so this terminates.
  for (IndexNode at = node(position); position != kRoot && at.parent < position;
       position = at.parent, at = node(position)) {
    const auto part = name(at);
    path.insert(0, path.empty() ? std::string(part) : std::string(part) + "/");
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
                   .origin = origin_id(entry.origin)},
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
