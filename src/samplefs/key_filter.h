// SPDX-License-Identifier: Apache-2.0
//
// Selects the objects of a source that a sync covers, by their keys relative to its root. Pure. The
// semantics are those of `juicefs sync`, so that a job means the same with either engine:
//
//   start, end   the first and the last key, in byte order; empty: no bound
//   rules        the includes, then the excludes. Each directory of a key and then the key itself
//                is matched; the first matching rule decides: an exclude rejects the key, an
//                include continues with the next part. Without a match the key is selected.
//
// A pattern is a glob: '*' is any part of a name, '?' one character, "[a-z]" one of these, "**" any
// part of a path. "/a" means a at the root, "a/" only directories; others match at any depth.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace paddle::samplefs {

struct KeyFilter {
  std::string start{};
  std::string end{};
  std::vector<std::string> include{};
  std::vector<std::string> exclude{};

  bool takes(std::string_view key) const;
};

// The whole text against the whole pattern; '*' and '?' do not match '/'.
bool matches_glob(std::string_view pattern, std::string_view text);

}  // namespace paddle::samplefs
