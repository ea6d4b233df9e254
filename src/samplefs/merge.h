// SPDX-License-Identifier: Apache-2.0
//
// Computes the next generation from the previous one: what a sync adds, updates and removes, what a
// removal hides, and which jobs made it. Pure: indices, listings and rules in, entries of a builder
// out.
//
//   sync    a listed object is added, or replaces the entry at its path. Nothing else is removed,
//           unless the rules request it: then entries beneath the destination that the rules select
//           and that were not listed. A file that its source no longer has and that stays is
//           readable as long as it is cached.
//   remove  entries at and beneath the paths are left out. A later sync that lists them adds them
//           again.
//
// Objects that a source has and the set cannot show are recorded by origin, until a later sync of
// that origin lists again or everything beneath its destination was removed.

#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "samplefs/index.h"
#include "samplefs/index_builder.h"
#include "samplefs/key_filter.h"

namespace paddle::samplefs {

struct SyncRules {
  Origin origin{};
  KeyFilter keys{};
  bool newer_only = false;  // applies to files of other origins
  bool delete_unlisted = false;
};

// Adds an object if the rules select it.
Result<> add_listed(const source::Object& object, const SyncRules& rules, IndexBuilder& next);

// Keeps the files of `base` that remain. Call it after all listed objects were added.
void keep_beside(const Index& base, const SyncRules& rules, IndexBuilder& next);

struct Removed {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};
// Keeps all files except those at and beneath the paths. A path that does not exist has no effect.
Removed keep_all_but(const Index& base, const std::vector<std::string>& paths, IndexBuilder& next);

// How many job ids a generation keeps. More than can run at once.
inline constexpr std::size_t kLedgerSize = 64;
// Metadata of the generation that `job` makes from `base`. An empty id is not recorded.
GenerationInfo next_after(const Index& base, const std::string& job, bool is_sync);

}  // namespace paddle::samplefs
