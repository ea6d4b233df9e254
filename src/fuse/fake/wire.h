// SPDX-License-Identifier: Apache-2.0
//
// The kernel's side of the protocol, for tests: encodes requests and decodes replies.

#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "fuse/protocol.h"

namespace paddle::fuse {

inline std::vector<std::byte> raw_request(std::uint32_t opcode, std::uint64_t unique,
                                          std::uint64_t node, std::span<const std::byte> body) {
  fuse_in_header header{};
  header.len = static_cast<std::uint32_t>(sizeof header + body.size());
  header.opcode = opcode;
  header.unique = unique;
  header.nodeid = node;
  std::vector<std::byte> bytes(header.len);
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!body.empty()) std::memcpy(bytes.data() + sizeof header, body.data(), body.size());
  return bytes;
}

template <typename T>
std::vector<std::byte> raw_request(std::uint32_t opcode, std::uint64_t unique, std::uint64_t node,
                                   const T& body) {
  return raw_request(opcode, unique, node, std::as_bytes(std::span(&body, 1)));
}

// With the NUL that the kernel appends to a name.
inline std::vector<std::byte> raw_lookup(std::uint64_t unique, std::uint64_t parent,
                                         const char* name) {
  return raw_request(FUSE_LOOKUP, unique, parent,
                     std::as_bytes(std::span(name, std::strlen(name) + 1)));
}

inline std::vector<std::byte> raw_read(std::uint64_t unique, std::uint64_t node,
                                       std::uint64_t offset, std::uint32_t size,
                                       std::uint32_t opcode = FUSE_READ) {
  fuse_read_in in{};
  in.offset = offset;
  in.size = size;
  return raw_request(opcode, unique, node, in);
}

inline std::vector<std::byte> raw_get_xattr(std::uint64_t unique, std::uint64_t node,
                                            std::string_view name, std::uint32_t size) {
  fuse_getxattr_in in{};
  in.size = size;
  std::vector<std::byte> body(sizeof in + name.size() + 1);
  std::memcpy(body.data(), &in, sizeof in);
  std::memcpy(body.data() + sizeof in, name.data(), name.size());
  return raw_request(FUSE_GETXATTR, unique, node, std::span<const std::byte>(body));
}

inline std::vector<std::byte> raw_init(std::uint32_t minor, std::uint64_t flags) {
  fuse_init_in in{};
  in.major = kMajor;
  in.minor = minor;
  in.max_readahead = 128 * 1024;
  in.flags = static_cast<std::uint32_t>(flags);
  in.flags2 = static_cast<std::uint32_t>(flags >> 32);
  return raw_request(FUSE_INIT, 2, 0, in);
}

// The flags that Linux 6.18 offers, including some that we do not use.
inline constexpr std::uint64_t kModernOffer =
    FUSE_ASYNC_READ | FUSE_ATOMIC_O_TRUNC | FUSE_EXPORT_SUPPORT | FUSE_AUTO_INVAL_DATA |
    FUSE_DO_READDIRPLUS | FUSE_READDIRPLUS_AUTO | FUSE_WRITEBACK_CACHE | FUSE_NO_OPEN_SUPPORT |
    FUSE_PARALLEL_DIROPS | FUSE_ABORT_ERROR | FUSE_MAX_PAGES | FUSE_NO_OPENDIR_SUPPORT |
    FUSE_EXPLICIT_INVAL_DATA | FUSE_INIT_EXT | FUSE_HAS_EXPIRE_ONLY | kHasResend;

template <typename T>
T take(std::span<const std::byte> bytes, std::size_t at = 0) {
  T value{};
  if (bytes.size() >= at + sizeof value) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace paddle::fuse
