// SPDX-License-Identifier: Apache-2.0
//
// A FileSystem in memory for tests, whose reads can be made to fail, to block, or to be short.
//
// The tree is built before it is served: add_*() must not run concurrently with any other call. All
// other functions are thread-safe. Ids are given in the order of creation, so two equal builds
// agree on them.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/sync.h"
#include "samplefs/file_system.h"

namespace paddle::fuse {

class MemoryFileSystem final : public samplefs::FileSystem {
 public:
  MemoryFileSystem();

  // Paths are relative, separated by '/'; missing directories are made.
  samplefs::NodeId add_directory(std::string_view path);
  samplefs::NodeId add_file(std::string_view path, std::string content);
  // A file of `size` bytes that takes no memory: byte i is pattern_byte(seed, i).
  samplefs::NodeId add_pattern(std::string_view path, std::uint64_t size, std::uint64_t seed);
  // Adds an entry with any name, '/' and NUL included, as a hostile index could.
  void add_raw(samplefs::NodeId parent, std::string name, samplefs::Attr attr);

  // Reads of `node` fail with `code` until it is reset with an empty optional.
  void fail_reads(samplefs::NodeId node, std::optional<Code> code);
  // Reads of `node` block until release_reads() or their deadline; read_local() returns nothing
  // meanwhile.
  void hold_reads(samplefs::NodeId node);
  void release_reads(samplefs::NodeId node);
  std::size_t held() const;  // blocked reads
  // Reads of `node` return one byte less than they should.
  void cut_reads(samplefs::NodeId node, bool cut);

  Result<samplefs::Attr> lookup(samplefs::NodeId parent, std::string_view name) override;
  Result<samplefs::Attr> stat(samplefs::NodeId node) override;
  Result<> read_directory(samplefs::NodeId node, std::uint64_t start,
                          const EntrySink& sink) override;
  Result<std::size_t> read(samplefs::NodeId node, std::uint64_t offset, std::span<std::byte> into,
                           BootTime until) override;
  Result<std::optional<std::size_t>> read_local(samplefs::NodeId node, std::uint64_t offset,
                                                std::span<std::byte> into) override;
  samplefs::FsTotals totals() const override;

 private:
  struct Node {
    samplefs::Attr attr{};
    std::string content{};
    std::optional<std::uint64_t> seed{};
    std::vector<std::pair<std::string, samplefs::Attr>> entries{};  // in order of creation
    std::map<std::string, std::size_t, std::less<>> by_name{};
  };

  Node* find(samplefs::NodeId node);
  Result<std::size_t> give(samplefs::NodeId node, std::uint64_t offset, std::span<std::byte> into);
  samplefs::NodeId add(std::string_view path, bool directory, std::uint64_t size);

  std::map<samplefs::NodeId, Node> nodes_;
  samplefs::NodeId next_ = samplefs::kRootId + 1;

  mutable Mutex mutex_;
  CondVar changed_;
  std::map<samplefs::NodeId, Code> failing_ GUARDED_BY(mutex_);
  std::set<samplefs::NodeId> holding_ GUARDED_BY(mutex_);
  std::set<samplefs::NodeId> cutting_ GUARDED_BY(mutex_);
  std::size_t held_ GUARDED_BY(mutex_) = 0;
};

std::byte pattern_byte(std::uint64_t seed, std::uint64_t offset);
void fill_pattern(std::uint64_t seed, std::uint64_t offset, std::span<std::byte> into);

}  // namespace paddle::fuse
