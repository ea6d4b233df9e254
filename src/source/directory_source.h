// SPDX-License-Identifier: Apache-2.0
//
// A local directory as a source. The kernel resolves every path beneath the root (openat2,
// RESOLVE_BENEATH): neither ".." nor a symbolic link leads out. A link to a file beneath the root
// is listed as that file; links to directories are not followed (they may form cycles), and special
// files are left out.
//
// The etag is made of inode, size and modification time, and compared before and after each read.
// A file rewritten in place within one tick of the clock, size unchanged, goes unnoticed: samples
// are replaced by rename.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "base/unique_fd.h"
#include "source/source.h"

namespace paddle::source {

// A listing that exceeds one of them ends with an error: directories may be those of a server that
// goes on for ever.
struct DirectoryLimits {
  std::chrono::hours listing_limit{12};
  std::uint64_t most_objects = 100'000'000;  // all entries count
};

class DirectorySource final : public Source {
 public:
  // kNotFound, kForbidden, or kInvalid when it is not a directory.
  static Result<std::unique_ptr<DirectorySource>> open(const std::string& directory,
                                                       const Clock& clock = system_clock(),
                                                       DirectoryLimits limits = {});

  Result<Listed> list(const ObjectSink& sink, std::stop_token stop) override;
  Result<> read(std::string_view path, std::string_view etag, std::uint64_t offset,
                std::span<std::byte> into, const CallContext& context) override;

 private:
  DirectorySource(UniqueFd root, const Clock& clock, DirectoryLimits limits)
      : root_(std::move(root)), clock_(clock), limits_(limits) {}

  const UniqueFd root_;
  const Clock& clock_;
  const DirectoryLimits limits_;
};

}  // namespace paddle::source
