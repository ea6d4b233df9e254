// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/plan/leftovers.h"

#include <string_view>

namespace paddle::engine::juicefs {

bool is_leftover_name(const std::string& name) {
  const std::size_t mark = name.rfind(".tmp.");
  return name.starts_with(".jfs.") && mark != name.npos && mark + 5 < name.size() &&
         name.find_first_not_of("0123456789", mark + 5) == name.npos;
}

std::string file_of_leftover(const std::string& path) {
  constexpr std::string_view kBefore = ".jfs.";
  const std::size_t name = path.rfind('/') + 1;  // 0 when there is none
  const std::size_t mark = path.rfind(".tmp.");
  if (!is_leftover_name(path.substr(name))) return path;
  return path.substr(0, name) + path.substr(name + kBefore.size(), mark - name - kBefore.size());
}

}  // namespace paddle::engine::juicefs
