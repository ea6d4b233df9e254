// SPDX-License-Identifier: Apache-2.0
//
// Decodes one request of the kernel into a value.
//
//   decode(bytes) -> Request
//
// Pure. The kernel is trusted, but every length is checked: an inconsistent request is kInvalid or,
// when its header is readable, a Request whose operation is Malformed, so that it can still be
// answered (an unanswered request blocks a process for ever). Names and forgets point into the
// bytes given; they live as long as those.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "fuse/protocol.h"

namespace paddle::fuse {

struct Init {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint32_t max_readahead = 0;
  std::uint64_t flags = 0;  // both words
};
struct Lookup {
  std::string_view name{};
};
struct GetAttr {};
struct StatFs {};
struct Open {};
struct OpenDirectory {};
struct Release {};  // of a file or a directory: nothing to release
struct Read {
  std::uint64_t offset = 0;
  std::uint32_t size = 0;
};
struct ReadDirectory {
  std::uint64_t offset = 0;
  std::uint32_t size = 0;
  bool plus = false;  // with attributes
};
struct GetXattr {
  std::string_view name{};
  std::uint32_t size = 0;  // room for the value; 0: only its size is wanted
};
struct ListXattr {
  std::uint32_t size = 0;
};
struct Forget {
  std::uint64_t nodes = 0;  // how many; node ids have no reference counts here
};
struct NoReply {};      // the kernel echoes one of our notifications: no reply
struct Destroy {};      // the mount is gone
struct Change {};       // any attempt to write; the superblock refuses it first
struct Unsupported {};  // anything else: ENOSYS, and the kernel sends it no more
struct Malformed {};

using Operation =
    std::variant<Init, Lookup, GetAttr, StatFs, Open, OpenDirectory, Release, Read, ReadDirectory,
                 GetXattr, ListXattr, Forget, NoReply, Destroy, Change, Unsupported, Malformed>;

struct Request {
  std::uint32_t opcode = 0;
  std::uint64_t unique = 0;
  std::uint64_t node = 0;
  Operation operation{};
};

Result<Request> decode(std::span<const std::byte> bytes);

}  // namespace paddle::fuse
