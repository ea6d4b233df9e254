// SPDX-License-Identifier: Apache-2.0
#include "erofs/image_writer.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "erofs/crc32c.h"
#include "erofs/directory_layout.h"
#include "erofs/format.h"

namespace paddle::erofs {
namespace {

using Number = Tree::Number;
using Node = Tree::Node;

constexpr std::size_t kPart = std::size_t{1} << 20;
// What a directory has beyond whole blocks lies behind its inode when it is that short, so that a
// small directory costs no block.
constexpr std::uint64_t kMaxInline = 1024;

constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t to) {
  return (bytes + to - 1) / to * to;
}

template <typename T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// Names of a directory in order; `visit(name, number, directory)`.
template <typename Visit>
void each_entry(const Tree& tree, Number directory, const Visit& visit) {
  const Node& node = tree.at(directory);
  const struct {
    std::string_view name;
    Number number;
  } own[] = {{".", directory}, {"..", node.parent}};
  std::size_t done = 0;
  for (Number child = node.first_child; child != Tree::kNone; child = tree.at(child).next) {
    const Node& entry = tree.at(child);
    const std::string_view name = tree.name(entry);
    while (done < 2 && own[done].name < name) {
      visit(own[done].name, own[done].number, true);
      ++done;
    }
    visit(name, child, entry.directory);
  }
  for (; done < 2; ++done) visit(own[done].name, own[done].number, true);
}

// The order of inodes: the root, then the entries of each directory together.
template <typename Visit>
void each_inode(const Tree& tree, const Visit& visit) {
  visit(Tree::kRoot);
  for (std::uint64_t number = 0; number < tree.size(); ++number) {
    const Node& node = tree.at(static_cast<Number>(number));
    if (!node.directory) continue;
    for (Number child = node.first_child; child != Tree::kNone; child = tree.at(child).next) {
      visit(child);
    }
  }
}

struct DirectoryShape {
  std::uint64_t size = 0;
  std::uint64_t tail = 0;    // of those: bytes behind the inode
  std::uint64_t blocks = 0;  // outside of it
  std::uint32_t links = 2;
};

DirectoryShape shape_of(const Tree& tree, Number directory) {
  DirectorySize size;
  DirectoryShape shape;
  each_entry(tree, directory, [&](std::string_view name, Number number, bool is_directory) {
    size.add(name.size());
    if (is_directory && number != directory && tree.at(number).parent == directory) ++shape.links;
  });
  shape.size = size.bytes();
  const std::uint64_t tail = shape.size % kBlock;
  if (tail <= kMaxInline) shape.tail = tail;
  shape.blocks = (shape.size - shape.tail + kBlock - 1) / kBlock;
  return shape;
}

class Writer {
 public:
  Writer(const Tree& tree, const Sink& sink) : tree_(tree), sink_(sink), nids_(tree.size()) {}

  Result<> lay_out(const ImageLimits& limits);
  Result<> write();
  std::uint64_t bytes() const { return blocks_ * kBlock; }

 private:
  std::uint64_t place(std::uint64_t at, Number number);
  std::string head() const;
  Result<> write_inode(Number number);
  Result<> write_directory(Number number);
  Result<> put(std::string_view bytes);
  Result<> pad_to(std::uint64_t at);
  Result<> flush();

  const Tree& tree_;
  const Sink& sink_;
  std::vector<std::uint32_t> nids_;
  std::uint64_t meta_block_ = 0;
  std::uint64_t directory_block_ = 0;  // the first
  std::uint64_t blocks_ = 0;

  // While writing.
  std::uint64_t next_block_ = 0;  // of the next directory
  std::uint64_t at_ = 0;
  std::string part_{};
};

// Returns where the inode begins, at or behind `at`; both from the first inode's block on.
std::uint64_t place_inode(std::uint64_t at, std::uint64_t tail) {
  at = round_up(at, kNidSize);
  // What lies behind an inode must not cross a block.
  const std::uint64_t begin = (at + sizeof(Inode)) % kBlock;
  return begin + tail > kBlock ? round_up(at, kBlock) : at;
}

std::uint64_t size_of_file_inode(const Tree& tree, const Node& node) {
  const std::uint64_t head = sizeof(Inode) + node.xattrs_size;
  const std::uint64_t chunks = tree.extents(node).size();
  return chunks == 0 ? head : round_up(head, sizeof(ChunkIndex)) + chunks * sizeof(ChunkIndex);
}

std::uint64_t Writer::place(std::uint64_t at, Number number) {
  const Node& node = tree_.at(number);
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  if (node.directory) {
    const DirectoryShape shape = shape_of(tree_, number);
    begin = place_inode(at, shape.tail);
    size = sizeof(Inode) + shape.tail;
    blocks_ += shape.blocks;
  } else {
    begin = place_inode(at, 0);
    size = size_of_file_inode(tree_, node);
  }
  nids_[number] = static_cast<std::uint32_t>(begin / kNidSize);
  return begin + size;
}

Result<> Writer::lay_out(const ImageLimits& limits) {
  const std::size_t devices = tree_.device_blocks().size();
  if (devices > 0xFFFE) return Error{Code::kInvalid, "an image cannot have that many devices"};
  const std::uint64_t head = (kFirstDeviceSlot + devices) * sizeof(DeviceSlot);
  meta_block_ = (head + kBlock - 1) / kBlock;
  std::uint64_t end = kNidSize;  // nid 0 stays free
  bool fits = true;
  each_inode(tree_, [&](Number number) {
    end = place(end, number);
    fits = fits && end / kNidSize < 0xFFFFFFFF;
  });
  const std::uint64_t in_directories = blocks_;
  directory_block_ = meta_block_ + (end + kBlock - 1) / kBlock;
  blocks_ = directory_block_ + in_directories;
  if (!fits || blocks_ >= kNoBlock || bytes() > limits.bytes) {
    return Error{Code::kInvalid, "the image would have " + std::to_string(bytes()) +
                                     " bytes, more than the limit of " +
                                     std::to_string(limits.bytes)};
  }
  return Done{};
}

// Superblock and device table.
std::string Writer::head() const {
  SuperBlock super;
  super.compat = kCompatChecksum | kCompatMtime;
  super.root_nid = static_cast<std::uint16_t>(nids_[Tree::kRoot]);
  super.inodes = tree_.size();
  super.blocks = static_cast<std::uint32_t>(blocks_);
  super.meta_block = static_cast<std::uint32_t>(meta_block_);
  super.incompat = kIncompatChunkedFile;
  if (!tree_.device_blocks().empty()) {
    super.incompat |= kIncompatDeviceTable;
    super.devices = static_cast<std::uint16_t>(tree_.device_blocks().size());
    super.device_slot = kFirstDeviceSlot;
  }
  std::string text(kSuperOffset, '\0');
  text += bytes_of(super);
  for (const std::uint64_t blocks : tree_.device_blocks()) {
    const DeviceSlot slot{
        .blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks, kNoBlock))};
    text += bytes_of(slot);
  }
  text.resize(meta_block_ * kBlock);
  super.checksum = crc32c(std::string_view(text).substr(kSuperOffset, kBlock - kSuperOffset));
  std::memcpy(text.data() + kSuperOffset, &super, sizeof super);
  return text;
}

Result<> Writer::flush() {
  if (part_.empty()) return Done{};
  CHECK_DONE(sink_(part_));
  part_.clear();
  return Done{};
}

Result<> Writer::put(std::string_view bytes) {
  at_ += bytes.size();
  while (!bytes.empty()) {
    const std::size_t now = std::min(bytes.size(), kPart - part_.size());
    part_ += bytes.substr(0, now);
    bytes.remove_prefix(now);
    if (part_.size() == kPart) CHECK_DONE(flush());
  }
  return Done{};
}

Result<> Writer::pad_to(std::uint64_t at) {
  static constexpr char kZeros[kBlock] = {};
  return put({kZeros, at - at_});  // never more than a block
}

std::string encode_directory(const Tree& tree, Number number,
                             const std::vector<std::uint32_t>& nids) {
  DirectoryEncoder encoder;
  each_entry(tree, number, [&](std::string_view name, Number child, bool directory) {
    encoder.add(name, nids[child], directory ? kDirectory : kRegularFile);
  });
  return encoder.take();
}

Result<> Writer::write_inode(Number number) {
  const Node& node = tree_.at(number);
  CHECK_DONE(pad_to(meta_block_ * kBlock + nids_[number] * kNidSize));
  Inode inode;
  inode.ino = number + 1;
  inode.mtime = node.modified_us / 1'000'000 - (node.modified_us % 1'000'000 < 0 ? 1 : 0);
  inode.mtime_ns =
      static_cast<std::uint32_t>((node.modified_us % 1'000'000 + 1'000'000) % 1'000'000 * 1000);
  if (node.directory) {
    const DirectoryShape shape = shape_of(tree_, number);
    inode.format = shape.tail > 0 ? kInlineInode : kPlainInode;
    inode.mode = kDirectoryMode;
    inode.size = shape.size;
    inode.links = shape.links;
    if (shape.blocks > 0) inode.data = static_cast<std::uint32_t>(next_block_);
    next_block_ += shape.blocks;
    CHECK_DONE(put(bytes_of(inode)));
    if (shape.tail == 0) return Done{};
    const std::string entries = encode_directory(tree_, number, nids_);
    return put(std::string_view(entries).substr(shape.size - shape.tail));
  }
  const auto extents = tree_.extents(node);
  const std::string_view xattrs = tree_.xattrs(node);
  inode.mode = kFileMode;
  inode.size = node.size;
  inode.format = extents.empty() ? kPlainInode : kChunkedInode;
  if (!extents.empty()) inode.data = kChunkFormat;
  if (!xattrs.empty()) {
    inode.xattr_count = static_cast<std::uint16_t>((xattrs.size() - sizeof(XattrHeader)) / 4 + 1);
  }
  CHECK_DONE(put(bytes_of(inode)));
  CHECK_DONE(put(xattrs));
  if (!extents.empty()) CHECK_DONE(pad_to(round_up(at_, sizeof(ChunkIndex))));
  for (const Tree::PackedExtent& each : extents) {
    const ChunkIndex index{.device = each.device, .block = each.block};
    CHECK_DONE(put(bytes_of(index)));
  }
  return Done{};
}

Result<> Writer::write_directory(Number number) {
  const DirectoryShape shape = shape_of(tree_, number);
  if (shape.blocks == 0) return Done{};
  const std::string entries = encode_directory(tree_, number, nids_);
  CHECK_DONE(put(std::string_view(entries).substr(0, shape.size - shape.tail)));
  return pad_to(round_up(at_, kBlock));
}

Result<> Writer::write() {
  next_block_ = directory_block_;
  part_.reserve(kPart);
  CHECK_DONE(put(head()));
  Result<> done = Done{};
  each_inode(tree_, [&](Number number) {
    if (done) done = write_inode(number);
  });
  CHECK_DONE(std::move(done));
  CHECK_DONE(pad_to(directory_block_ * kBlock));
  each_inode(tree_, [&](Number number) {
    if (done && tree_.at(number).directory) done = write_directory(number);
  });
  CHECK_DONE(std::move(done));
  return flush();
}

}  // namespace

Result<std::uint64_t> write_image(const Tree& tree, const ImageLimits& limits, const Sink& sink) {
  Writer writer(tree, sink);
  CHECK_DONE(writer.lay_out(limits));
  CHECK_DONE(writer.write());
  return writer.bytes();
}

}  // namespace paddle::erofs
