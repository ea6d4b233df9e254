// SPDX-License-Identifier: Apache-2.0
#include "samplefs/key_filter.h"

#include <algorithm>

namespace paddle::samplefs {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

// Matches one character at `at` in the pattern; returns how much of the pattern it used, 0 for no
// match.
std::size_t match_one(std::string_view pattern, std::size_t at, char c) {
  if (pattern[at] == '?') return c == '/' ? 0 : 1;
  if (pattern[at] == '\\' && at + 1 < pattern.size()) return pattern[at + 1] == c ? 2 : 0;
  const std::size_t close = pattern[at] == '[' ? pattern.find(']', at + 2) : kNone;
  if (close == kNone) return pattern[at] == c ? 1 : 0;
  std::size_t i = at + 1;
  const bool others = pattern[i] == '!' || pattern[i] == '^';
  if (others) ++i;
  bool found = false;
  for (; i < close; ++i) {
    if (i + 2 < close && pattern[i + 1] == '-') {
      found = found || (pattern[i] <= c && c <= pattern[i + 2]);
      i += 2;
    } else {
      found = found || pattern[i] == c;
    }
  }
  return found != others && c != '/' ? close + 1 - at : 0;
}

std::size_t parts_of(std::string_view path) {
  return 1 + static_cast<std::size_t>(std::count(path.begin(), path.end(), '/'));
}

// The last `count` components; nothing when it has fewer.
std::string_view last_parts(std::string_view path, std::size_t count) {
  std::size_t from = path.size();
  for (; count > 0; --count) {
    if (from == 0) return {};
    const std::size_t slash = path.rfind('/', from - 1);
    if (slash == kNone) return count == 1 ? path : std::string_view();
    from = slash;
  }
  return path.substr(from + 1);
}

bool rule_matches(std::string_view pattern, std::string_view path, bool directory) {
  if (pattern.ends_with('/')) {
    if (!directory) return false;
    pattern.remove_suffix(1);
  }
  if (pattern.starts_with('/')) return matches_glob(pattern.substr(1), path);
  if (pattern.find("**") != kNone) {
    return matches_glob(pattern, path) ||
           (pattern.starts_with("**/") && matches_glob(pattern.substr(3), path));
  }
  return matches_glob(pattern, last_parts(path, parts_of(pattern)));
}

}  // namespace

// Backtracking positions, one for each kind of star. An earlier star of the same kind never has to
// be tried again.
bool matches_glob(std::string_view pattern, std::string_view text) {
  struct Star {
    std::size_t pattern = kNone;
    std::size_t text = 0;
  };
  Star name, any;
  std::size_t p = 0, t = 0;
  while (t < text.size() || p < pattern.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      const bool crosses = p + 1 < pattern.size() && pattern[p + 1] == '*';
      p += crosses ? 2 : 1;
      (crosses ? any : name) = {p, t};
      if (crosses) name = {};
      continue;
    }
    if (p < pattern.size() && t < text.size()) {
      if (const std::size_t took = match_one(pattern, p, text[t]); took > 0) {
        p += took;
        ++t;
        continue;
      }
    }
    if (name.pattern != kNone && name.text < text.size() && text[name.text] != '/') {
      p = name.pattern;
      t = ++name.text;
    } else if (any.pattern != kNone && any.text < text.size()) {
      name = {};
      p = any.pattern;
      t = ++any.text;
    } else {
      return false;
    }
  }
  return true;
}

bool KeyFilter::takes(std::string_view key) const {
  if (!start.empty() && key < start) return false;
  if (!end.empty() && key > end) return false;
  if (include.empty() && exclude.empty()) return true;
  for (std::size_t at = 0; at < key.size();) {
    const std::size_t slash = std::min(key.find('/', at), key.size());
    const bool directory = slash < key.size();
    const std::string_view path = key.substr(0, slash);
    const auto matches = [&](const std::string& rule) {
      return rule_matches(rule, path, directory);
    };
    if (std::none_of(include.begin(), include.end(), matches) &&
        std::any_of(exclude.begin(), exclude.end(), matches)) {
      return false;
    }
    at = slash + 1;
  }
  return true;
}

}  // namespace paddle::samplefs
