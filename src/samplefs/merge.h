// SPDX-License-Identifier: Apache-2.0
//
// From one generation to the next: what a sync adds, updates and removes, what a removal hides, and
// which jobs made what. Pure: indices, listings and rules in, entries of a builder out.
//
//   sync    what was listed is added, or replaces what was at its path. Nothing else is removed,
//           unless the rules say so: then what is beneath the destination, is one of the keys that
//           the rules are about and was not listed. A file that its source has no longer and that
//           stays can be read as long as it is in the cache.
//   remove  what is at and beneath the paths is left out. It is not remembered: a later sync that
//           lists it brings it again.
//
// What a source has and the set cannot show is remembered by origin, until a later sync of that
// origin has looked again or all that is beneath its destination has gone.

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
  bool newer_only = false;  // of files that another origin brought
  bool delete_unlisted = false;
};

// Objects that the rules are about; others are passed over.
Result<> add_listed(const source::Object& object, const SyncRules& rules, IndexBuilder& next);

// What of `base` stays, after all was listed.
void keep_beside(const Index& base, const SyncRules& rules, IndexBuilder& next);

struct Removed {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};
// All but what is at and beneath the paths; one that is not there removes nothing.
Removed keep_all_but(const Index& base, const std::vector<std::string>& paths, IndexBuilder& next);

// How many jobs a generation remembers. More than can be at work at once.
inline constexpr std::size_t kLedgerSize = 64;
// What is said of the generation that `job` makes from `base`. An empty id is not remembered.
GenerationInfo next_after(const Index& base, const std::string& job, bool is_sync);

}  // namespace paddle::samplefs
