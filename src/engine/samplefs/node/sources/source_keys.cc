// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/sources/source_keys.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <span>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/log.h"
#include "base/unique_fd.h"
#include "os/read_file.h"
#include "samplefs/new_file.h"

namespace paddle::engine::samplefs {
namespace {

using ::paddle::samplefs::OriginId;

constexpr std::size_t kLongestKeyFile = std::size_t{1} << 20;

Error cannot(const char* what) {
  return Error{Code::kUnavailable,
               std::string("cannot ") + what + " the keys of a source: " + std::strerror(errno)};
}

bool is_in_memory(const std::string& directory) {
  struct statfs found {};
  if (directory.empty()) return false;
  if (::statfs(directory.c_str(), &found) == 0 &&
      (found.f_type == TMPFS_MAGIC || found.f_type == RAMFS_MAGIC)) {
    return true;
  }
  log::warn("the directory for keys of sources is not in memory; they end with this process",
            {{"directory", directory}});
  return false;
}

}  // namespace

std::string encode_keys(const KeyValues& keys) {
  std::string text;
  for (const auto& [name, value] : keys) {
    text.append(name).append(" ").append(std::to_string(value.size())).append("\n");
    text.append(value).append("\n");
  }
  return text;
}

Result<KeyValues> decode_keys(std::string_view text) {
  const Error damaged{Code::kInvalid, "the keys of a source are damaged; sync it again"};
  KeyValues keys;
  while (!text.empty()) {
    const std::size_t line = text.find('\n');
    const std::size_t space = line == text.npos ? line : text.substr(0, line).rfind(' ');
    if (space == text.npos) return damaged;
    std::size_t size = 0;
    const auto [end, failed] = std::from_chars(text.data() + space + 1, text.data() + line, size);
    if (failed != std::errc{} || end != text.data() + line) return damaged;
    const std::string name(text.substr(0, space));
    text.remove_prefix(line + 1);
    if (text.size() <= size || text[size] != '\n') return damaged;
    keys[name] = std::string(text.substr(0, size));
    text.remove_prefix(size + 1);
  }
  return keys;
}

SourceKeyStore::SourceKeyStore(std::string directory)
    : directory_(is_in_memory(directory) ? std::move(directory) : "") {}

std::string SourceKeyStore::file(OriginId origin) const {
  char name[17];
  std::snprintf(name, sizeof name, "%016llx", static_cast<unsigned long long>(origin));
  return directory_ + "/" + name;
}

Result<KeyValues> SourceKeyStore::read(OriginId origin) const {
  const Error none{Code::kNotFound, "a source has no keys of its own"};
  if (directory_.empty()) {
    Lock lock(mutex_);
    const auto found = kept_.find(origin);
    return found == kept_.end() ? Result<KeyValues>(none) : found->second;
  }
  const UniqueFd fd(::open(file(origin).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd && errno == ENOENT) return none;
  if (!fd) return cannot("read");
  TRY(const std::string text, os::read_to_end(fd.get(), "the keys of a source", kLongestKeyFile));
  return decode_keys(text);
}

Result<> SourceKeyStore::write(OriginId origin, const KeyValues& keys) {
  if (directory_.empty()) {
    Lock lock(mutex_);
    kept_[origin] = keys;
    return Done{};
  }
  const std::string text = encode_keys(keys);
  auto made = ::paddle::samplefs::NewFile::create(file(origin), text.size());
  if (!made) return std::move(made).error().in("store the keys of a source");
  std::ranges::copy(std::as_bytes(std::span(text)), made->bytes());
  return made->publish();
}

void SourceKeyStore::remove(OriginId origin) {
  if (!directory_.empty()) ::unlink(file(origin).c_str());
  Lock lock(mutex_);
  kept_.erase(origin);
}

void SourceKeyStore::keep_only(const std::set<OriginId>& origins) {
  if (directory_.empty()) {
    Lock lock(mutex_);
    std::erase_if(kept_, [&](const auto& entry) { return !origins.contains(entry.first); });
    return;
  }
  std::set<std::string> kept;
  for (const OriginId origin : origins) kept.insert(file(origin));
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, ignored)) {
    if (!kept.contains(entry.path())) ::unlink(entry.path().c_str());
  }
}

}  // namespace paddle::engine::samplefs
