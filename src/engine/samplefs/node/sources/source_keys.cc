// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/sources/source_keys.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <span>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "os/read_file.h"
#include "samplefs/new_file.h"

namespace paddle::engine::samplefs {
namespace {

constexpr std::size_t kLongestKeyFile = std::size_t{1} << 20;

Error cannot(const char* what) {
  return Error{Code::kUnavailable,
               std::string("cannot ") + what + " the keys of a source: " + std::strerror(errno)};
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

Result<KeyValues> read_key_file(const std::string& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd && errno == ENOENT) return Error{Code::kNotFound, "a source has no keys of its own"};
  if (!fd) return cannot("read");
  TRY(const std::string text, os::read_to_end(fd.get(), "the keys of a source", kLongestKeyFile));
  return decode_keys(text);
}

std::string SourceKeyFiles::file(::paddle::samplefs::OriginId origin) const {
  char name[17];
  std::snprintf(name, sizeof name, "%016llx", static_cast<unsigned long long>(origin));
  return directory_ + "/" + name;
}

Result<> SourceKeyFiles::write(::paddle::samplefs::OriginId origin, const KeyValues& keys) const {
  if (::mkdir(directory_.c_str(), 0700) != 0 && errno != EEXIST) return cannot("store");
  const std::string text = encode_keys(keys);
  auto made = ::paddle::samplefs::NewFile::create(file(origin), text.size());
  if (!made) return std::move(made).error().in("store the keys of a source");
  std::ranges::copy(std::as_bytes(std::span(text)), made->bytes());
  return made->publish();
}

void SourceKeyFiles::remove(::paddle::samplefs::OriginId origin) const {
  ::unlink(file(origin).c_str());
}

void SourceKeyFiles::keep_only(const std::set<::paddle::samplefs::OriginId>& origins) const {
  std::set<std::string> kept;
  for (const auto origin : origins) kept.insert(file(origin));
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, ignored)) {
    if (!kept.contains(entry.path())) ::unlink(entry.path().c_str());
  }
}

}  // namespace paddle::engine::samplefs
