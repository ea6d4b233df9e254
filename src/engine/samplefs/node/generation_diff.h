// SPDX-License-Identifier: Apache-2.0
//
// What a kernel has to forget when one generation follows another. Pure.

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
  std::vector<::paddle::samplefs::NodeId> listings{};  // directories that list other names or nodes
  std::vector<ChangedName> names{};                    // that are new, gone, or another node
};

// Directories are compared by path; what is beneath a directory that is new or gone needs no word.
GenerationDiff diff_generations(const ::paddle::samplefs::Index& before,
                                const ::paddle::samplefs::Index& after);

// Adds every directory and every name of `index`: for a kernel of which nobody knows what it was
// told.
void add_everything(const ::paddle::samplefs::Index& index, GenerationDiff& changes);

}  // namespace paddle::engine::samplefs
