// SPDX-License-Identifier: Apache-2.0
//
// What a kernel has to invalidate when one generation replaces another. Pure.

#pragma once

#include <string>
#include <vector>

#include "samplefs/index.h"

namespace paddle::engine::samplefs {

struct ChangedName {
  ::paddle::samplefs::NodeId directory = 0;
  std::string name{};
  bool operator==(const ChangedName&) const = default;
};

struct GenerationDiff {
  std::vector<::paddle::samplefs::NodeId> listings{};  // directories with other names or nodes
  std::vector<ChangedName> names{};                    // that are new, gone, or another node
};

// Compares directories by path. The contents of a directory that is new or gone are not listed.
GenerationDiff diff_generations(const ::paddle::samplefs::Index& before,
                                const ::paddle::samplefs::Index& after);

// Adds every directory and every name of `index`: for a kernel whose generation is not known.
void add_everything(const ::paddle::samplefs::Index& index, GenerationDiff& changes);

}  // namespace paddle::engine::samplefs
