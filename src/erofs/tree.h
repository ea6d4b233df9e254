// SPDX-License-Identifier: Apache-2.0
//
// The files of an image, in the order of their paths: each component compared bytewise, a directory
// before what is beneath it. Directories come into being with their first file, or are named
// themselves when they are empty. Pure.
//
// add() treats paths, sizes and extents as hostile: it refuses what an image cannot hold or a
// kernel would misread, with one sentence, and the tree stays as it was. Needs about 60 bytes for
// each entry, its name and 8 bytes for each extent; nothing that grows with the bytes of files.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace paddle::erofs {

// Where the bytes of one chunk of a file lie: whole blocks of one device.
struct Extent {
  std::uint32_t device = 0;  // from 0 on
  std::uint64_t block = 0;
};

struct Xattr {
  std::string_view name{};  // without "user."
  std::string_view value{};
};

struct File {
  std::string_view path{};  // "a/b", without a slash at either end
  std::uint64_t size = 0;
  WallTime modified{};
  std::span<const Extent> extents{};  // one for each chunk (format.h), in order
  std::span<const Xattr> xattrs{};
};

struct TreeLimits {
  std::uint64_t entries = std::uint64_t{1} << 28;  // files and directories
  std::size_t depth = 256;
  std::uint64_t extents = std::uint64_t{1} << 30;
  std::uint64_t xattr_bytes = std::uint64_t{1} << 32;
};

class Tree {
 public:
  using Number = std::uint32_t;
  static constexpr Number kRoot = 0;
  static constexpr Number kNone = 0xFFFFFFFF;

  struct Node {
    std::uint64_t size = 0;
    std::int64_t modified_us = 0;  // of a directory: the latest of what is beneath
    std::uint64_t name = 0;        // in the names
    std::uint64_t xattrs = 0;      // in the xattrs, as an image has them
    std::uint64_t extents = 0;     // its first
    Number parent = kRoot;
    Number first_child = kNone;
    Number next = kNone;  // of the same directory
    std::uint16_t xattrs_size = 0;
    std::uint8_t name_size = 0;
    bool directory = false;
  };

  // `device_blocks`: how many blocks each device has.
  explicit Tree(std::vector<std::uint64_t> device_blocks, TreeLimits limits = {});
  void add_device(std::uint64_t blocks) { device_blocks_.push_back(blocks); }

  Result<> add(const File& file);
  Result<> add_directory(std::string_view path, WallTime modified);

  std::span<const std::uint64_t> device_blocks() const { return device_blocks_; }
  std::uint64_t size() const { return nodes_.size(); }
  std::uint64_t files() const { return files_; }
  const Node& at(Number number) const { return nodes_[number]; }
  std::string_view name(const Node& node) const {
    return std::string_view(names_).substr(node.name, node.name_size);
  }
  std::string_view xattrs(const Node& node) const {
    return std::string_view(xattrs_).substr(node.xattrs, node.xattrs_size);
  }
  struct PackedExtent {
    std::uint32_t block = 0;
    std::uint16_t device = 0;  // from 1 on, as an image has it
  };
  std::span<const PackedExtent> extents(const Node& node) const;

 private:
  Result<> check(std::string_view path) const;
  Result<> check_extents(const File& file) const;
  Result<std::string> encode_xattrs(const File& file) const;
  // The directory that `path` is in, and its own name; creates directories on the way.
  Number enter(std::string_view path, std::string_view& name);
  Number append(Number parent, std::string_view name, bool directory);
  void touch(std::int64_t modified_us);

  std::vector<std::uint64_t> device_blocks_;
  TreeLimits limits_;
  std::vector<Node> nodes_{};
  std::string names_{};
  std::string xattrs_{};
  std::vector<PackedExtent> extents_{};
  std::uint64_t files_ = 0;

  // The directories of the latest path, from the root on, and the last child of each.
  struct Open {
    Number directory = kRoot;
    Number last_child = kNone;
  };
  std::vector<Open> open_{{}};
};

// Why this cannot be a name in an image; empty when it can.
std::string_view why_no_name(std::string_view name);

}  // namespace paddle::erofs
