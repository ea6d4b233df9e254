// SPDX-License-Identifier: Apache-2.0
//
// Generations of an index on disk: `index.<generation>`, each written whole
// (samplefs/index_builder.h). The latest and the previous one are kept: a mount may still have
// names of the previous one. Not thread-safe.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "samplefs/index.h"

namespace paddle::engine::samplefs {

using IndexPtr = std::shared_ptr<const ::paddle::samplefs::Index>;

class IndexFiles {
 public:
  explicit IndexFiles(std::string directory) : directory_(std::move(directory)) {}

  std::string file(std::uint64_t generation) const;
  struct Opened {
    std::vector<IndexPtr> indexes{};  // that can be used, oldest first; not empty
    // The latest generation that was published, also if its index cannot be used: its number is not
    // given to another.
    std::uint64_t latest = 0;
    std::string damage{};  // one sentence when the latest one cannot be used
  };
  // If there is no index, generation 0 is created, which has no files. What cannot be used is
  // logged.
  Result<Opened> open() const;
  // Removes all but these two.
  void prune(std::uint64_t latest, std::uint64_t before) const;

 private:
  std::vector<std::uint64_t> generations() const;  // ascending

  const std::string directory_;
};

}  // namespace paddle::engine::samplefs
