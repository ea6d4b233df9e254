// SPDX-License-Identifier: Apache-2.0
#include "erofs/tree.h"

#include <algorithm>
#include <cstring>

#include "erofs/format.h"

namespace paddle::erofs {
namespace {

// A path in a message: hostile bytes replaced, cut.
std::string shown(std::string_view path) {
  std::string text;
  for (const char c : path.substr(0, 80)) text += c >= ' ' && c <= '~' && c != '\'' ? c : '?';
  if (path.size() > 80) text += "...";
  return "'" + text + "'";
}

Error refuse(std::string_view path, const std::string& why) {
  return Error{Code::kInvalid, shown(path) + " " + why};
}

std::uint64_t chunks_of(std::uint64_t size) { return size / kChunk + (size % kChunk != 0); }

// The first component, which is removed with its slash.
std::string_view take(std::string_view& path) {
  const std::size_t slash = path.find('/');
  const std::string_view first = path.substr(0, slash);
  path.remove_prefix(slash == path.npos ? path.size() : slash + 1);
  return first;
}

}  // namespace

std::string_view why_no_name(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name == "." || name == "..") return "names a directory itself";
  if (name.size() > kMaxName) return "is longer than 255 bytes";
  if (name.find('\0') != name.npos) return "has a NUL";
  if (name.find('/') != name.npos) return "has a slash";
  return {};
}

Tree::Tree(std::vector<std::uint64_t> device_blocks, TreeLimits limits)
    : device_blocks_(std::move(device_blocks)), limits_(limits) {
  nodes_.push_back({.directory = true});
}

// The name has to stand behind the last one of the directory that both paths share.
Result<> Tree::check(std::string_view path) const {
  if (path.empty() || path.back() == '/') return refuse(path, "has a name that is empty");
  std::string_view rest = path;
  std::size_t depth = 0;
  std::uint64_t new_entries = 0;
  bool shared = true;
  while (!rest.empty()) {
    const std::string_view name = take(rest);
    if (const auto why = why_no_name(name); !why.empty()) {
      return refuse(path, "has a name that " + std::string(why));
    }
    if (shared) {
      const Number last = open_[depth].last_child;
      const bool known = last != kNone && this->name(nodes_[last]) == name;
      if (known && (!nodes_[last].directory || rest.empty())) {
        return refuse(path, "comes twice, or is a file and a directory");
      }
      if (!known && last != kNone && name < this->name(nodes_[last])) {
        return refuse(path, "is not in the order of paths");
      }
      shared = known;
    }
    if (!shared) ++new_entries;
    if (++depth > limits_.depth) return refuse(path, "is too deep");
  }
  const std::uint64_t allowed = std::min<std::uint64_t>(limits_.entries, kNone - 1);
  if (nodes_.size() + new_entries > allowed) return refuse(path, "is one entry too many");
  return Done{};
}

Result<> Tree::check_extents(const File& file) const {
  if (file.size >= std::uint64_t{1} << 63) return refuse(file.path, "is too large");
  if (file.extents.size() != chunks_of(file.size)) {
    return refuse(file.path, "has " + std::to_string(file.extents.size()) + " extents where " +
                                 std::to_string(chunks_of(file.size)) + " are needed");
  }
  if (extents_.size() + file.extents.size() > limits_.extents) {
    return refuse(file.path, "has one extent too many");
  }
  std::uint64_t left = file.size;
  for (const Extent& extent : file.extents) {
    const std::uint64_t bytes = std::min(left, kChunk);
    const std::uint64_t blocks = (bytes + kBlock - 1) / kBlock;
    left -= bytes;
    if (extent.device >= device_blocks_.size() || extent.device >= 0xFFFF) {
      return refuse(file.path, "lies on device " + std::to_string(extent.device) + " of " +
                                   std::to_string(device_blocks_.size()));
    }
    const std::uint64_t end = device_blocks_[extent.device];
    // The last block number stands for a hole.
    if (extent.block >= kNoBlock || extent.block > end || end - extent.block < blocks ||
        kNoBlock - extent.block < blocks) {
      return refuse(file.path, "lies beyond the end of device " + std::to_string(extent.device));
    }
  }
  return Done{};
}

Result<std::string> Tree::encode_xattrs(const File& file) const {
  std::string text;
  if (file.xattrs.empty()) return text;
  text.resize(sizeof(XattrHeader));
  for (const Xattr& each : file.xattrs) {
    if (each.name.empty() || each.name.size() > kMaxName || each.value.size() > kBlock / 2 ||
        each.name.find('\0') != each.name.npos) {
      return refuse(file.path, "has an xattr that does not fit");
    }
    const XattrEntry entry{.name_size = static_cast<std::uint8_t>(each.name.size()),
                           .prefix = kUserPrefix,
                           .value_size = static_cast<std::uint16_t>(each.value.size())};
    char bytes[sizeof entry];
    std::memcpy(bytes, &entry, sizeof entry);
    text.append(bytes, sizeof bytes).append(each.name).append(each.value);
    text.resize((text.size() + 3) / 4 * 4);
  }
  if (text.size() > kBlock / 2) return refuse(file.path, "has xattrs that do not fit");
  if (xattrs_.size() + text.size() > limits_.xattr_bytes) {
    return refuse(file.path, "has one xattr too many");
  }
  return text;
}

Tree::Number Tree::append(Number parent, std::string_view name, bool directory) {
  const auto number = static_cast<Number>(nodes_.size());
  nodes_.push_back({.name = names_.size(),
                    .parent = parent,
                    .name_size = static_cast<std::uint8_t>(name.size()),
                    .directory = directory});
  names_ += name;
  Open& above = open_.back();
  (above.last_child == kNone ? nodes_[parent].first_child : nodes_[above.last_child].next) = number;
  above.last_child = number;
  return number;
}

Tree::Number Tree::enter(std::string_view path, std::string_view& name) {
  std::size_t depth = 0;
  bool shared = true;
  while (true) {
    name = take(path);
    if (path.empty()) {
      open_.resize(depth + 1);
      return open_.back().directory;
    }
    const Number last = open_[depth].last_child;
    if (shared && last != kNone && this->name(nodes_[last]) == name) {
      ++depth;  // open_[depth] is this directory: it was the latest
      continue;
    }
    shared = false;
    open_.resize(depth + 1);
    const Number made = append(open_.back().directory, name, /*directory=*/true);
    open_.push_back({.directory = made});
    ++depth;
  }
}

void Tree::touch(std::int64_t modified_us) {
  for (const Open& each : open_) {
    std::int64_t& latest = nodes_[each.directory].modified_us;
    latest = std::max(latest, modified_us);
  }
}

Result<> Tree::add(const File& file) {
  CHECK_DONE(check(file.path));
  CHECK_DONE(check_extents(file));
  TRY(const std::string xattrs, encode_xattrs(file));
  std::string_view name;
  const Number parent = enter(file.path, name);
  Node& node = nodes_[append(parent, name, /*directory=*/false)];
  node.size = file.size;
  node.modified_us = file.modified.time_since_epoch().count();
  node.extents = extents_.size();
  node.xattrs = xattrs_.size();
  node.xattrs_size = static_cast<std::uint16_t>(xattrs.size());
  xattrs_ += xattrs;
  for (const Extent& each : file.extents) {
    extents_.push_back({.block = static_cast<std::uint32_t>(each.block),
                        .device = static_cast<std::uint16_t>(each.device + 1)});
  }
  ++files_;
  touch(node.modified_us);
  return Done{};
}

Result<> Tree::add_directory(std::string_view path, WallTime modified) {
  CHECK_DONE(check(path));
  std::string_view name;
  const Number parent = enter(path, name);
  const Number made = append(parent, name, /*directory=*/true);
  open_.push_back({.directory = made});
  touch(modified.time_since_epoch().count());
  return Done{};
}

std::span<const Tree::PackedExtent> Tree::extents(const Node& node) const {
  if (node.directory) return {};
  return std::span(extents_).subspan(node.extents, chunks_of(node.size));
}

}  // namespace paddle::erofs
