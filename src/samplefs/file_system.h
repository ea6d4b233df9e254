// SPDX-License-Identifier: Apache-2.0
//
// The file system interface of a sample set: a read-only tree of files, by node id. Independent of
// FUSE.
//
// A node id names content (path and etag): a changed file is another node, so pages cached under an
// old id can never show new bytes or the other way round. Ids stay resolvable as long as a mount
// that has seen them lives. Root is kRootId.
//
// Thread-safe. Only read() waits for the source, until its deadline at most. Failures are Errors;
// fuse/errno_table.h translates them to errno.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace paddle::samplefs {

using NodeId = std::uint64_t;
inline constexpr NodeId kRootId = 1;

struct Attr {
  NodeId id = 0;
  bool directory = false;
  std::uint64_t size = 0;
  WallTime modified{};
};

struct FsTotals {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

// An extended attribute; `name` is the whole of it, "user." included.
struct Xattr {
  std::string name{};
  std::string value{};
  bool operator==(const Xattr&) const = default;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual Result<Attr> lookup(NodeId parent, std::string_view name) = 0;
  virtual Result<Attr> stat(NodeId node) = 0;

  // Entries of a directory in a stable order, until `sink` returns false. `start` is 0 for the
  // first, or the cookie that came with an entry, for those behind it: less than 2^62. A listing
  // that is continued by cookies has each name once, also when the directory changes meanwhile.
  using EntrySink =
      std::function<bool(std::string_view name, const Attr& attr, std::uint64_t cookie)>;
  virtual Result<> read_directory(NodeId node, std::uint64_t start, const EntrySink& sink) = 0;

  // Fills `into` from `offset`. Returns min(into.size(), size - offset) bytes or an Error, never
  // fewer bytes (a short read would become a silent end of file in the page cache). When the bytes
  // have not arrived by `until`: kDeadline, or the source's error.
  virtual Result<std::size_t> read(NodeId node, std::uint64_t offset, std::span<std::byte> into,
                                   BootTime until) = 0;

  // The same from the data on this node, without the source. Nothing: call read().
  virtual Result<std::optional<std::size_t>> read_local(NodeId node, std::uint64_t offset,
                                                        std::span<std::byte> into) = 0;

  // What tells people where a node comes from. None by default.
  virtual Result<std::vector<Xattr>> xattrs(NodeId) { return std::vector<Xattr>{}; }

  virtual FsTotals totals() const = 0;
};

}  // namespace paddle::samplefs
