// SPDX-License-Identifier: Apache-2.0
#include "source/path_rules.h"

#include <algorithm>

namespace paddle::source {

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameSize && name != "." && name != ".." &&
         name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

bool is_path(std::string_view path) { return why_no_path(path).empty(); }

std::string_view why_no_path(std::string_view path) {
  if (path.size() > kMaxPathSize) return "a path of more than 4095 bytes";
  for (;;) {
    const std::size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    if (name.empty()) return "an empty part";
    if (name == "." || name == "..") return "a part . or ..";
    if (name.size() > kMaxNameSize) return "a part of more than 255 bytes";
    if (!is_name(name)) return "a zero byte";
    if (slash == std::string_view::npos) return "";
    path.remove_prefix(slash + 1);
  }
}

bool is_etag(std::string_view etag) {
  return !etag.empty() && etag.size() <= kMaxEtagSize &&
         std::all_of(etag.begin(), etag.end(),
                     [](char c) { return c > ' ' && c < '\x7f' && c != '"' && c != '\\'; });
}

}  // namespace paddle::source
