// SPDX-License-Identifier: Apache-2.0
//
// Which objects of a source a sync is about, by their keys relative to its root. Pure. The meaning
// is that of `juicefs sync`, so that a job means the same with either engine:
//
//   start, end   the first and the last key, in the order of bytes; empty: no bound
//   rules        the includes, then the excludes. Each directory of a key and then the key itself
//                are looked at; the first rule that matches decides: an exclude leaves it out, an
//                include lets the next part be looked at. What no rule matches is taken.
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
