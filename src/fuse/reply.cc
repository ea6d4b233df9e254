// SPDX-License-Identifier: Apache-2.0
#include "fuse/reply.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include <dirent.h>
#include <sys/stat.h>

namespace paddle::fuse {
namespace {

constexpr std::uint32_t kBlock = 4096;  // st_blksize; as on the disk file systems we compare with

std::uint64_t seconds_of(std::chrono::seconds timeout) {
  return timeout.count() > 0 ? static_cast<std::uint64_t>(timeout.count()) : 0;
}

}  // namespace

bool usable_name(std::string_view name) {
  return !name.empty() && name.size() <= kNameMax && name != "." && name != ".." &&
         name.find('/') == name.npos && name.find('\0') == name.npos;
}

bool usable(const samplefs::Attr& attr) {
  return attr.id != 0 && attr.id != samplefs::kRootId &&
         attr.size <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
}

fuse_attr encode_attr(const samplefs::Attr& attr, const AttrOptions& attr_options) {
  fuse_attr out{};
  const auto since = attr.modified.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
  const auto nanos = std::chrono::duration_cast<std::chrono::nanoseconds>(since - seconds);
  out.ino = attr.id;
  out.size = attr.directory ? 0 : attr.size;
  out.blocks = out.size / 512 + (out.size % 512 != 0 ? 1 : 0);
  out.mtime = out.ctime = out.atime = static_cast<std::uint64_t>(seconds.count());
  out.mtimensec = out.ctimensec = out.atimensec = static_cast<std::uint32_t>(nanos.count());
  out.mode = attr.directory ? S_IFDIR | (attr_options.directory_mode & 07777)
                            : S_IFREG | (attr_options.file_mode & 07777);
  out.nlink = 1;  // for a directory: "number of subdirectories unknown", which find(1) understands
  out.uid = attr_options.uid;
  out.gid = attr_options.gid;
  out.blksize = kBlock;
  return out;
}

fuse_attr_out encode_attr_out(const samplefs::Attr& attr, const AttrOptions& attr_options) {
  fuse_attr_out out{};
  out.attr_valid = seconds_of(attr_options.attr_timeout);
  out.attr = encode_attr(attr, attr_options);
  return out;
}

fuse_entry_out encode_entry(const samplefs::Attr& attr, const AttrOptions& attr_options) {
  fuse_entry_out out{};
  out.nodeid = attr.id;
  out.entry_valid = seconds_of(attr_options.entry_timeout);
  out.attr_valid = seconds_of(attr_options.attr_timeout);
  out.attr = encode_attr(attr, attr_options);
  return out;
}

fuse_entry_out encode_no_entry(const AttrOptions& attr_options) {
  fuse_entry_out out{};
  out.entry_valid = seconds_of(attr_options.negative_timeout);
  return out;
}

fuse_statfs_out encode_statfs(const samplefs::FsTotals& totals) {
  fuse_statfs_out out{};
  out.st.bsize = kBlock;
  out.st.frsize = kBlock;
  out.st.blocks = totals.bytes / kBlock + (totals.bytes % kBlock != 0 ? 1 : 0);
  out.st.files = totals.files;
  out.st.namelen = kNameMax;
  return out;
}

bool DirectoryPage::add(std::string_view name, const samplefs::Attr& attr, std::uint64_t next) {
  return put(name, attr.id, attr.directory, next,
             plus_ ? encode_entry(attr, attr_options_) : fuse_entry_out{});
}

bool DirectoryPage::add_dot(std::string_view name, samplefs::NodeId node, std::uint64_t next) {
  return put(name, node, true, next, {});
}

bool DirectoryPage::put(std::string_view name, std::uint64_t ino, bool directory,
                        std::uint64_t next, const fuse_entry_out& entry) {
  const std::size_t before = plus_ ? sizeof entry : 0;
  const std::size_t needed = FUSE_REC_ALIGN(before + sizeof(fuse_dirent) + name.size());
  if (needed > into_.size() - used_) return false;

  fuse_dirent dirent{};
  dirent.ino = ino;
  dirent.off = next;
  dirent.namelen = static_cast<std::uint32_t>(name.size());
  dirent.type = directory ? DT_DIR : DT_REG;

  std::byte* at = into_.data() + used_;
  std::memset(at, 0, needed);
  if (plus_) std::memcpy(at, &entry, sizeof entry);
  std::memcpy(at + before, &dirent, sizeof dirent);
  std::memcpy(at + before + sizeof dirent, name.data(), name.size());
  used_ += needed;
  return true;
}

}  // namespace paddle::fuse
