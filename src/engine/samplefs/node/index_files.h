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
  // The readable generations, oldest first. A damaged one is skipped and logged. If there is none,
  // generation 0 is created, which has no files.
  Result<std::vector<IndexPtr>> open() const;
  // Removes all but the two latest up to `latest`.
  void prune(std::uint64_t latest) const;

 private:
  std::vector<std::uint64_t> generations() const;  // ascending

  const std::string directory_;
};

}  // namespace paddle::engine::samplefs
