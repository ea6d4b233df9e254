// SPDX-License-Identifier: Apache-2.0
//
// Reads an image in memory by format.h alone, for tests and fuzzing: every path with what the image
// says about it. A rule that the image breaks is one sentence in `fault`. Pure.

#pragma once

#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "erofs/crc32c.h"
#include "erofs/format.h"

namespace paddle::erofs {

struct ReadEntry {
  bool directory = false;
  std::uint64_t nid = 0;
  std::uint64_t size = 0;
  std::int64_t mtime = 0;
  std::uint32_t mtime_ns = 0;
  std::uint32_t links = 0;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> extents{};  // device from 0 on, block
  std::map<std::string, std::string> xattrs{};                     // without "user."
};

class ImageReader {
 public:
  explicit ImageReader(std::string_view image) : image_(image) { read(); }

  const std::map<std::string, ReadEntry>& entries() const { return entries_; }  // "" is the root
  const std::string& fault() const { return fault_; }
  const SuperBlock& super() const { return super_; }

 private:
  template <typename T>
  T load(std::uint64_t at) {
    T value{};
    if (at > image_.size() || image_.size() - at < sizeof value) {
      fail("a number lies beyond the end");
    } else {
      std::memcpy(&value, image_.data() + at, sizeof value);
    }
    return value;
  }
  void fail(const std::string& why) {
    if (fault_.empty()) fault_ = why;
  }

  void read() {
    super_ = load<SuperBlock>(kSuperOffset);
    if (image_.size() < kBlock || image_.size() % kBlock != 0) return fail("odd size");
    std::string first(image_.substr(kSuperOffset, kBlock - kSuperOffset));
    std::memset(first.data() + offsetof(SuperBlock, checksum), 0, 4);
    if (super_.magic != kMagic || super_.checksum != crc32c(first)) return fail("superblock");
    if (super_.root_nid == 0) return fail("the root has the nid 0");
    if (super_.blocks * kBlock != image_.size()) return fail("the number of blocks");
    for (const std::uint8_t byte : super_.label) {
      if (byte != 0) return fail("a label");
    }
    read_inode("", super_.root_nid, super_.root_nid);
    if (entries_.size() != super_.inodes) fail("the number of inodes");
  }

  void read_inode(const std::string& path, std::uint64_t nid, std::uint64_t parent) {
    const std::uint64_t at = super_.meta_block * kBlock + nid * kNidSize;
    const auto inode = load<Inode>(at);
    if (!fault_.empty()) return;
    if (!seen_.insert(nid).second) return fail("two names for one inode");
    ReadEntry entry{.nid = nid,
                    .size = inode.size,
                    .mtime = inode.mtime,
                    .mtime_ns = inode.mtime_ns,
                    .links = inode.links};
    entry.directory = inode.mode == kDirectoryMode;
    if (!entry.directory && inode.mode != kFileMode) return fail("a mode");
    const std::uint64_t behind = at + sizeof(Inode) + read_xattrs(at + sizeof(Inode), inode, entry);
    if (entry.directory) {
      entries_[path] = entry;
      read_directory(path, inode, nid, parent, behind);
      return;
    }
    if (inode.format == kChunkedInode) {
      if (inode.data != kChunkFormat) return fail("a chunk format");
      std::uint64_t index = (behind + 7) / 8 * 8;
      for (std::uint64_t from = 0; from < inode.size && fault_.empty();
           from += kChunk, index += 8) {
        const auto chunk = load<ChunkIndex>(index);
        if (chunk.device == 0 || chunk.device > super_.devices) return fail("a device number");
        entry.extents.emplace_back(chunk.device - 1u, chunk.block);
      }
    } else if (inode.format != kPlainInode || inode.size != 0) {
      return fail("the layout of a file");
    }
    entries_[path] = std::move(entry);
  }

  std::uint64_t read_xattrs(std::uint64_t at, const Inode& inode, ReadEntry& entry) {
    if (inode.xattr_count == 0) return 0;
    const std::uint64_t size = sizeof(XattrHeader) + (inode.xattr_count - 1u) * 4u;
    for (std::uint64_t from = sizeof(XattrHeader); from < size && fault_.empty();) {
      const auto head = load<XattrEntry>(at + from);
      const std::uint64_t end = from + sizeof head + head.name_size + head.value_size;
      if (end > size || head.prefix != kUserPrefix || at + end > image_.size()) {
        fail("an xattr");
        return size;
      }
      const std::string name(image_.substr(at + from + sizeof head, head.name_size));
      entry.xattrs[name] = image_.substr(at + from + sizeof head + head.name_size, head.value_size);
      from = (end + 3) / 4 * 4;
    }
    return size;
  }

  void read_directory(const std::string& path, const Inode& inode, std::uint64_t nid,
                      std::uint64_t parent, std::uint64_t behind) {
    const bool inline_tail = inode.format == kInlineInode;
    if (!inline_tail && inode.format != kPlainInode) return fail("the layout of a directory");
    const std::uint64_t tail = inline_tail ? inode.size % kBlock : 0;
    if (tail > 0 && behind / kBlock != (behind + tail - 1) / kBlock) {
      return fail("a tail that crosses a block");
    }
    std::string last;
    std::uint32_t directories = 0;
    for (std::uint64_t from = 0; from < inode.size && fault_.empty(); from += kBlock) {
      const std::uint64_t size = std::min(kBlock, inode.size - from);
      const bool whole = from + size <= inode.size - tail;
      const std::uint64_t at = whole ? inode.data * kBlock + from : behind;
      if (at > image_.size() || image_.size() - at < size) return fail("a directory's block");
      read_block(path, image_.substr(at, size), nid, parent, last, directories);
    }
    if (entries_[path].links != directories) fail("the number of links");
  }

  void read_block(const std::string& path, std::string_view block, std::uint64_t nid,
                  std::uint64_t parent, std::string& last, std::uint32_t& directories) {
    Dirent first;
    if (block.size() < sizeof first) return fail("a short block");
    std::memcpy(&first, block.data(), sizeof first);
    const std::size_t count = first.name_offset / sizeof first;
    if (count == 0 || first.name_offset % sizeof first != 0) return fail("a first name");
    for (std::size_t i = 0; i < count && fault_.empty(); ++i) {
      Dirent dirent;
      Dirent next;
      std::memcpy(&dirent, block.data() + i * sizeof dirent, sizeof dirent);
      std::size_t end = block.size();
      if (i + 1 < count) {
        std::memcpy(&next, block.data() + (i + 1) * sizeof next, sizeof next);
        end = next.name_offset;
      }
      if (dirent.name_offset > end || end > block.size()) return fail("a name's place");
      std::string_view text = block.substr(dirent.name_offset, end - dirent.name_offset);
      if (i + 1 == count) text = text.substr(0, text.find('\0'));
      const std::string name(text);
      if (name.empty() || name.find('\0') != name.npos || name.find('/') != name.npos ||
          name.size() > kMaxName) {
        return fail("a name");
      }
      if (!last.empty() && name <= last) return fail("the order of names");
      last = name;
      if (dirent.type == kDirectory) ++directories;
      if (name == ".") {
        if (dirent.nid != nid) fail("'.'");
      } else if (name == "..") {
        if (dirent.nid != parent) fail("'..'");
      } else {
        const std::string below = path.empty() ? name : path + "/" + name;
        read_inode(below, dirent.nid, nid);
        if (fault_.empty() && entries_[below].directory != (dirent.type == kDirectory)) {
          fail("a type");
        }
      }
    }
  }

  std::string_view image_;
  SuperBlock super_{};
  std::set<std::uint64_t> seen_{};
  std::map<std::string, ReadEntry> entries_{};
  std::string fault_{};
};

}  // namespace paddle::erofs
