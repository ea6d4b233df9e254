// SPDX-License-Identifier: Apache-2.0
//
// Encodes replies: attributes, entries and directory pages as the kernel's structures. Pure.
//
// The kernel fails a whole directory for one invalid name or attribute, so invalid entries are
// never sent: see usable_name() and usable().

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "fuse/protocol.h"
#include "samplefs/file_system.h"

namespace paddle::fuse {

// Owner and modes of the files, and how long the kernel may cache entries and attributes. A node id
// names content and content never changes, so caches are valid until they are invalidated.
struct AttrOptions {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint32_t file_mode = 0444;
  std::uint32_t directory_mode = 0555;
  std::chrono::seconds entry_timeout{std::chrono::hours{24 * 365}};
  std::chrono::seconds attr_timeout{std::chrono::hours{24 * 365}};
  std::chrono::seconds negative_timeout{std::chrono::hours{1}};  // for negative entries
};

// One component of a path: not empty, not "." or "..", no '/' and no NUL, at most 255 bytes.
bool usable_name(std::string_view name);
// A child the kernel accepts: an id that is neither 0 nor the root's, a size off_t can hold.
bool usable(const samplefs::Attr& attr);

fuse_attr encode_attr(const samplefs::Attr& attr, const AttrOptions& attr_options);
fuse_attr_out encode_attr_out(const samplefs::Attr& attr, const AttrOptions& attr_options);
fuse_entry_out encode_entry(const samplefs::Attr& attr, const AttrOptions& attr_options);
fuse_entry_out encode_no_entry(const AttrOptions& attr_options);
fuse_statfs_out encode_statfs(const samplefs::FsTotals& totals);

// One READDIR or READDIRPLUS answer, filled from the front.
class DirectoryPage {
 public:
  DirectoryPage(std::span<std::byte> into, bool plus, const AttrOptions& attr_options)
      : into_(into), plus_(plus), attr_options_(attr_options) {}

  // `next` is the offset of the following entry. False when there is no room for this one.
  bool add(std::string_view name, const samplefs::Attr& attr, std::uint64_t next);
  // Adds "." or "..", on which the kernel takes no reference.
  bool add_dot(std::string_view name, samplefs::NodeId node, std::uint64_t next);

  std::size_t size() const { return used_; }

 private:
  bool put(std::string_view name, std::uint64_t ino, bool directory, std::uint64_t next,
           const fuse_entry_out& entry);

  const std::span<std::byte> into_;
  const bool plus_;
  const AttrOptions& attr_options_;
  std::size_t used_ = 0;
};

}  // namespace paddle::fuse
