// SPDX-License-Identifier: Apache-2.0
//
// The part of the EROFS on-disk format that our images use, described by ourselves. All numbers are
// little-endian; a block has 4096 bytes.
//
//   0      1024         1152                  meta_block            first directory block
//   +------+------------+---------------------+---------------------+---------------------------+
//   | zero | SuperBlock | DeviceSlot x n zero | inodes, each at     | blocks of directories     |
//   |      |            |                     | nid x 32            |                           |
//   +------+------------+---------------------+---------------------+---------------------------+
//
//   inode      Inode (64 bytes), then xattrs (XattrHeader, entries), then for a file one ChunkIndex
//              for each 4 MiB, for a directory what is left after its whole blocks, if it is short.
//   directory  blocks of Dirent x n and the names behind them. Names are sorted bytewise over all
//              blocks, "." and ".." among them.
//   file       no byte of a file is in the image: a chunk is a row of blocks of a device.
//
// What a kernel requires and what it does with images that break it: docs/design/0016.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace paddle::erofs {

static_assert(std::endian::native == std::endian::little);

inline constexpr std::uint32_t kMagic = 0xE0F5E1E2;
inline constexpr std::uint64_t kSuperOffset = 1024;
inline constexpr unsigned kBlockBits = 12;
inline constexpr std::uint64_t kBlock = std::uint64_t{1} << kBlockBits;
inline constexpr unsigned kChunkBits = 22;  // 4 MiB: the block of a cache
inline constexpr std::uint64_t kChunk = std::uint64_t{1} << kChunkBits;
inline constexpr std::uint64_t kNidSize = 32;  // a nid counts these from the first inode's block
inline constexpr std::size_t kMaxName = 255;

// Of the superblock.
inline constexpr std::uint32_t kCompatChecksum = 0x1;
inline constexpr std::uint32_t kCompatMtime = 0x2;
inline constexpr std::uint32_t kIncompatChunkedFile = 0x4;
inline constexpr std::uint32_t kIncompatDeviceTable = 0x8;

struct SuperBlock {
  std::uint32_t magic = kMagic;
  std::uint32_t checksum = 0;  // CRC-32C, not inverted, from here to the end of the block
  std::uint32_t compat = 0;
  std::uint8_t block_bits = kBlockBits;
  std::uint8_t ext_slots = 0;
  std::uint16_t root_nid = 0;  // never 0: "." and ".." would vanish from listings
  std::uint64_t inodes = 0;
  std::uint64_t build_time = 0;
  std::uint32_t build_time_ns = 0;
  std::uint32_t blocks = 0;  // of the image
  std::uint32_t meta_block = 0;
  std::uint32_t xattr_block = 0;
  std::uint8_t uuid[16] = {};
  std::uint8_t label[16] = {};  // stays empty: CVE-2026-43154
  std::uint32_t incompat = 0;
  std::uint16_t compression = 0;
  std::uint16_t devices = 0;
  std::uint16_t device_slot = 0;  // the first, counted in slots from the start of the image
  std::uint8_t directory_block_bits = 0;
  std::uint8_t xattr_prefixes = 0;
  std::uint32_t xattr_prefix_start = 0;
  std::uint64_t packed_nid = 0;
  std::uint8_t xattr_filter = 0;
  std::uint8_t reserved[23] = {};
};
static_assert(sizeof(SuperBlock) == 128);
static_assert(offsetof(SuperBlock, root_nid) == 14 && offsetof(SuperBlock, blocks) == 36);
static_assert(offsetof(SuperBlock, label) == 64 && offsetof(SuperBlock, incompat) == 80);
static_assert(offsetof(SuperBlock, devices) == 86 && offsetof(SuperBlock, packed_nid) == 96);

struct DeviceSlot {
  std::uint8_t tag[64] = {};
  std::uint32_t blocks = 0;
  std::uint32_t mapped_block = 0;  // 0: reached only by its number
  std::uint8_t reserved[56] = {};
};
static_assert(sizeof(DeviceSlot) == 128);
inline constexpr std::uint16_t kFirstDeviceSlot =
    (kSuperOffset + sizeof(SuperBlock)) / sizeof(DeviceSlot);

// Inode::format: bit 0 is set for an inode of 64 bytes, the layout stands above it.
inline constexpr std::uint16_t kPlainInode = 1 | 0 << 1;
inline constexpr std::uint16_t kInlineInode = 1 | 2 << 1;
inline constexpr std::uint16_t kChunkedInode = 1 | 4 << 1;
// Inode::data of a file: chunk indexes of 8 bytes, and how many blocks a chunk has.
inline constexpr std::uint32_t kChunkFormat = 0x20 | (kChunkBits - kBlockBits);
inline constexpr std::uint32_t kNoBlock = 0xFFFFFFFF;

struct Inode {
  std::uint16_t format = 0;
  std::uint16_t xattr_count = 0;
  std::uint16_t mode = 0;
  std::uint16_t reserved = 0;
  std::uint64_t size = 0;
  std::uint32_t data = kNoBlock;  // of a directory: its first block
  std::uint32_t ino = 0;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::int64_t mtime = 0;
  std::uint32_t mtime_ns = 0;
  std::uint32_t links = 1;
  std::uint8_t reserved2[16] = {};
};
static_assert(sizeof(Inode) == 64 && offsetof(Inode, mtime) == 32);

struct ChunkIndex {
  std::uint16_t reserved = 0;
  std::uint16_t device = 0;  // from 1 on; 0 would be the image itself
  std::uint32_t block = 0;
};
static_assert(sizeof(ChunkIndex) == 8);

inline constexpr std::uint8_t kRegularFile = 1;
inline constexpr std::uint8_t kDirectory = 2;
inline constexpr std::uint16_t kFileMode = 0100444;
inline constexpr std::uint16_t kDirectoryMode = 0040555;

struct [[gnu::packed]] Dirent {
  std::uint64_t nid = 0;
  std::uint16_t name_offset = 0;  // in its block
  std::uint8_t type = 0;
  std::uint8_t reserved = 0;
};
static_assert(sizeof(Dirent) == 12);

// Behind an inode; Inode::xattr_count is (bytes - sizeof(XattrHeader)) / 4 + 1.
struct XattrHeader {
  std::uint32_t name_filter = 0;
  std::uint8_t shared = 0;
  std::uint8_t reserved[7] = {};
};
static_assert(sizeof(XattrHeader) == 12);

// Then the name without its prefix, the value, and zeros up to a multiple of 4.
struct XattrEntry {
  std::uint8_t name_size = 0;
  std::uint8_t prefix = 0;  // 1: "user."
  std::uint16_t value_size = 0;
};
static_assert(sizeof(XattrEntry) == 4);
inline constexpr std::uint8_t kUserPrefix = 1;

}  // namespace paddle::erofs
