// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/command/set_path.h"

#include <algorithm>

namespace paddle::engine::juicefs {

Result<std::string> path_in_set(const std::string& path) {
  std::string clean;
  std::size_t at = 0;
  while (at < path.size()) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string part = path.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == ".." || part.find('\n') != part.npos || part.find('\0') != part.npos) {
      return Error{Code::kInvalid,
                   "the path '" + path.substr(0, 100) + "' is not beneath the root of the set"};
    }
    if (part.size() > kLongestName) {
      return Error{Code::kInvalid, "the path '" + path.substr(0, 100) +
                                       "...' has a name of more than 255 bytes, which no file of "
                                       "a set has; correct it"};
    }
    clean += (clean.empty() ? "" : "/") + part;
  }
  return clean;
}

}  // namespace paddle::engine::juicefs
