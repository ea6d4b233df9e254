// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/secret_files.h"

#include <cerrno>
#include <cstring>
#include <memory>

#include <dirent.h>

#include "engine/juicefs/credentials.h"
#include "engine/juicefs/secret_text.h"
#include "os/read_file.h"

namespace paddle::engine::juicefs {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;  // of a Secret

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

Error unreadable(const std::string& directory, const std::string& why) {
  return {Code::kUnavailable, "the Secret at '" + directory + "' cannot be read: " + why};
}

}  // namespace

Result<SecretValues> read_secret(const std::string& directory) {
  SecretValues files;
  if (directory.empty()) return files;
  const std::unique_ptr<DIR, CloseDirectory> listing(::opendir(directory.c_str()));
  if (!listing && errno == ENOENT) return files;
  if (!listing) return unreadable(directory, std::strerror(errno));
  while (const dirent* entry = ::readdir(listing.get())) {
    const std::string name = entry->d_name;
    if (name.starts_with('.')) continue;
    const auto text = os::read_file(directory + "/" + name, kMostBytes);
    if (text.is(Code::kInvalid)) continue;  // a directory
    if (!text) return unreadable(directory, text.error().message);
    if (auto value = trimmed(*text); !value.empty()) files[name] = std::move(value);
  }
  if (const auto sealed = files.extract(kSealedFile)) {
    for (auto& [key, value] : unsealed(sealed.mapped())) files[key] = value;
  }
  return files;
}

}  // namespace paddle::engine::juicefs
