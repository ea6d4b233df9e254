// SPDX-License-Identifier: Apache-2.0
#include "fuse/mountinfo.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <memory>

#include <fcntl.h>
#include <stdlib.h>

#include "base/unique_fd.h"
#include "fuse/device_error.h"

namespace paddle::fuse {
namespace {

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(by);
    parts.push_back(text.substr(0, at));
    if (at == text.npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// The kernel writes blanks and backslashes in names as \ooo.
std::string unescape(std::string_view text) {
  const auto octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && octal(text[i + 1]) && octal(text[i + 2]) &&
        octal(text[i + 3])) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                               (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

// 36 35 0:52 / /mnt/a\040b rw,noatime shared:1 - fuse.samplefs source ro,user_id=0
std::optional<MountEntry> parse_line(std::string_view line) {
  const auto fields = split(line, ' ');
  std::size_t dash = 6;
  while (dash < fields.size() && fields[dash] != "-") ++dash;
  if (dash + 2 >= fields.size()) return std::nullopt;
  MountEntry entry;
  const std::string_view id = fields[0];
  const auto [end, failure] = std::from_chars(id.data(), id.data() + id.size(), entry.id);
  if (failure != std::errc{} || end != id.data() + id.size()) return std::nullopt;
  entry.device = fields[2];
  entry.point = unescape(fields[4]);
  entry.type = unescape(fields[dash + 1]);
  entry.source = unescape(fields[dash + 2]);
  for (std::size_t i = 6; i < dash; ++i) {
    if (!fields[i].starts_with("shared:")) continue;
    const std::string_view group = fields[i].substr(7);
    std::from_chars(group.data(), group.data() + group.size(), entry.peer_group);
  }
  return entry;
}

}  // namespace

std::vector<MountEntry> parse_mountinfo(std::string_view text) {
  std::vector<MountEntry> mounts;
  for (const std::string_view line : split(text, '\n')) {
    if (auto entry = parse_line(line)) mounts.push_back(*std::move(entry));
  }
  return mounts;
}

Result<std::vector<MountEntry>> read_mountinfo() {
  const UniqueFd fd(::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
  if (!fd) return device_error("open /proc/self/mountinfo", errno);
  std::string text;
  std::array<char, 65536> part{};
  while (true) {
    const ssize_t got = ::read(fd.get(), part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return device_error("read /proc/self/mountinfo", errno);
    if (got == 0) return parse_mountinfo(text);
    text.append(part.data(), static_cast<std::size_t>(got));
  }
}

std::optional<MountEntry> top_of(const std::vector<MountEntry>& mounts, std::string_view point) {
  for (auto at = mounts.rbegin(); at != mounts.rend(); ++at) {
    if (at->point == point) return *at;
  }
  return std::nullopt;
}

Result<std::string> canonical_mount_point(const std::string& path) {
  std::string trimmed = path;
  while (trimmed.size() > 1 && trimmed.back() == '/') trimmed.pop_back();
  const std::size_t slash = trimmed.rfind('/');
  const std::string name = slash == trimmed.npos ? trimmed : trimmed.substr(slash + 1);
  if (name.empty() || name == "." || name == ".." || trimmed.find('\0') != trimmed.npos) {
    return Error{Code::kInvalid, "not a mount point: '" + path + "'"};
  }
  const std::string above = slash == trimmed.npos ? "."
                            : slash == 0          ? "/"
                                                  : trimmed.substr(0, slash);
  const std::unique_ptr<char, decltype(&::free)> real(::realpath(above.c_str(), nullptr), &::free);
  if (!real) return device_error("resolve '" + above + "'", errno);
  const std::string directory = real.get();
  return (directory == "/" ? "" : directory) + "/" + name;
}

}  // namespace paddle::fuse
