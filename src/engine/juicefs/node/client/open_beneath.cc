// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/client/open_beneath.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>

namespace paddle::engine::juicefs {
namespace {

Error cannot_open(const std::string& path) {
  if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) {
    return {Code::kNotFound, "the set has no '" + path + "'; sync it or correct the path"};
  }
  return {Code::kUnavailable, "'" + path + "' cannot be opened: " + std::strerror(errno)};
}

}  // namespace

Result<UniqueFd> open_beneath(const std::string& mount, const std::string& path, int flags) {
  UniqueFd at(::open(mount.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!at) return cannot_open(mount);
  std::size_t from = 0;
  while (from < path.size()) {
    const std::size_t end = std::min(path.find('/', from), path.size());
    const bool last = end == path.size();
    const std::string name = path.substr(from, end - from);
    const int how = last ? flags : O_RDONLY | O_DIRECTORY;
    UniqueFd next(::openat(at.get(), name.c_str(), how | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (!next) return cannot_open(path);
    at = std::move(next);
    from = end + 1;
  }
  return at;
}

}  // namespace paddle::engine::juicefs
