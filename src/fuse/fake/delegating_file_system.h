// SPDX-License-Identifier: Apache-2.0
//
// File systems for tests that wrap another one. DelegatingFileSystem forwards every call; a test
// derives from it and overrides what it changes. SlowFileSystem delays every read, so that a kill
// finds some in progress. Both borrow the wrapped file system and are as thread-safe as it is.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "samplefs/file_system.h"

namespace paddle::fuse {

class DelegatingFileSystem : public samplefs::FileSystem {
 public:
  explicit DelegatingFileSystem(samplefs::FileSystem& files) : files_(files) {}

  Result<samplefs::Attr> lookup(samplefs::NodeId parent, std::string_view name) override {
    return files_.lookup(parent, name);
  }
  Result<samplefs::Attr> stat(samplefs::NodeId node) override { return files_.stat(node); }
  Result<> read_directory(samplefs::NodeId node, std::uint64_t start,
                          const EntrySink& sink) override {
    return files_.read_directory(node, start, sink);
  }
  Result<std::size_t> read(samplefs::NodeId node, std::uint64_t offset, std::span<std::byte> into,
                           BootTime until) override {
    return files_.read(node, offset, into, until);
  }
  Result<std::optional<std::size_t>> read_local(samplefs::NodeId node, std::uint64_t offset,
                                                std::span<std::byte> into) override {
    return files_.read_local(node, offset, into);
  }
  Result<std::vector<samplefs::Xattr>> xattrs(samplefs::NodeId node) override {
    return files_.xattrs(node);
  }
  samplefs::FsTotals totals() const override { return files_.totals(); }

 private:
  samplefs::FileSystem& files_;
};

class SlowFileSystem final : public DelegatingFileSystem {
 public:
  using DelegatingFileSystem::DelegatingFileSystem;

  Result<std::size_t> read(samplefs::NodeId node, std::uint64_t offset, std::span<std::byte> into,
                           BootTime until) override {
    system_clock().sleep(std::chrono::milliseconds{3}, {});
    return DelegatingFileSystem::read(node, offset, into, until);
  }
  // No data is local: every read is delayed.
  Result<std::optional<std::size_t>> read_local(samplefs::NodeId, std::uint64_t,
                                                std::span<std::byte>) override {
    return std::optional<std::size_t>();
  }
};

}  // namespace paddle::fuse
