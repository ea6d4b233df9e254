// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/secret_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "engine/juicefs/credentials.h"
#include "engine/juicefs/text.h"

namespace paddle::engine::juicefs {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;  // of a Secret
constexpr auto kPublic = std::to_array<std::string_view>(
    {"name", "storage", "bucket", "endpoint", "region", "ca.crt", "block-size", "capacity",
     "compress", "inodes", "shards", "storage-class", "trash-days"});

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

Error unreadable(const std::string& directory) {
  return {Code::kUnavailable,
          "the Secret at '" + directory + "' can not be read: " + std::strerror(errno)};
}

}  // namespace

Result<SecretFiles> read_secret(const std::string& directory) {
  SecretFiles files;
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

std::string value_of(const SecretFiles& files, const std::string& key) {
  const auto found = files.find(key);
  return found == files.end() ? std::string() : found->second;
}

std::vector<std::string> secrets_of(const SecretFiles& files) {
  std::vector<std::string> all;
  for (const auto& [key, value] : files) {
    if (std::find(kPublic.begin(), kPublic.end(), key) == kPublic.end()) all.push_back(value);
  }
  return all;
}

}  // namespace paddle::engine::juicefs
