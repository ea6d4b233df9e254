// SPDX-License-Identifier: Apache-2.0
//
// Any patterns and any key of an object store: no crash, no endless match, and a key and its rules
// mean what key_filter.h says. Input: a key and patterns, one per line; an odd one excludes.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "samplefs/key_filter.h"
#include "source/path_rules.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using paddle::samplefs::KeyFilter;
  using paddle::samplefs::matches_glob;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  KeyFilter filter;
  std::string key;
  for (std::size_t line = 0; !text.empty() && line < 16; ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string each(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line == 0) {
      key = each;
    } else if (line % 2 == 1) {
      filter.exclude.push_back(each);
    } else {
      filter.include.push_back(each);
    }
  }
  (void)filter.takes(key);
  if (key.find_first_of("*?[\\/") == key.npos && !matches_glob(key, key)) std::abort();
  if (key.find('/') == key.npos && !matches_glob("*", key)) std::abort();
  if (key.find('/') != key.npos && matches_glob("*", key)) std::abort();

  KeyFilter bounded;
  bounded.start = filter.exclude.empty() ? "" : filter.exclude.front();
  if (!bounded.start.empty() && bounded.takes(key) && key < bounded.start) std::abort();
  if (paddle::source::is_path(key) != paddle::source::why_no_path(key).empty()) std::abort();
  return 0;
}
