// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/secret_files.h"

#include <cerrno>
#include <cstring>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "engine/juicefs/credentials.h"
#include "engine/juicefs/secret_text.h"

namespace paddle::engine::juicefs {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;  // of a Secret

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

Error unreadable(const std::string& directory) {
  return {Code::kUnavailable,
          "the Secret at '" + directory + "' can not be read: " + std::strerror(errno)};
}

}  // namespace

Result<SecretValues> read_secret(const std::string& directory) {
  SecretValues files;
  if (directory.empty()) return files;
  const std::unique_ptr<DIR, CloseDirectory> listing(::opendir(directory.c_str()));
  if (!listing && errno == ENOENT) return files;
  if (!listing) return unreadable(directory);
  while (const dirent* entry = ::readdir(listing.get())) {
    const std::string name = entry->d_name;
    if (name.starts_with('.')) continue;
    const UniqueFd fd(::openat(::dirfd(listing.get()), name.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return unreadable(directory);
    std::string text(kMostBytes, '\0');
    const ssize_t got = ::read(fd.get(), text.data(), text.size());
    if (got < 0 && errno == EISDIR) continue;
    if (got < 0) return unreadable(directory);
    text.resize(static_cast<std::size_t>(got));
    if (auto value = trimmed(text); !value.empty()) files[name] = std::move(value);
  }
  if (const auto sealed = files.extract(kSealedFile)) {
    for (auto& [key, value] : unsealed(sealed.mapped())) files[key] = value;
  }
  return files;
}

}  // namespace paddle::engine::juicefs
