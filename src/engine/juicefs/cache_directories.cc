// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/cache_directories.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "api/schema/pattern.h"

namespace paddle::engine::juicefs {
namespace {

constexpr std::string_view kShared = "/dev/shm";
constexpr auto kSystem = std::to_array<std::string_view>({"/bin",
                                                          "/boot",
                                                          "/dev/block",
                                                          "/dev/bus",
                                                          "/dev/char",
                                                          "/dev/cpu",
                                                          "/dev/disk",
                                                          "/dev/dri",
                                                          "/dev/fd",
                                                          "/dev/hugepages",
                                                          "/dev/input",
                                                          "/dev/mapper",
                                                          "/dev/mqueue",
                                                          "/dev/net",
                                                          "/dev/pts",
                                                          "/dev/snd",
                                                          "/dev/vfio",
                                                          "/etc",
                                                          "/lib",
                                                          "/lib32",
                                                          "/lib64",
                                                          "/libx32",
                                                          "/opt/cni",
                                                          "/proc",
                                                          "/root",
                                                          "/run",
                                                          "/sbin",
                                                          "/sys",
                                                          "/usr",
                                                          "/var/lib/cni",
                                                          "/var/lib/containerd",
                                                          "/var/lib/containers",
                                                          "/var/lib/docker",
                                                          "/var/lib/dpkg",
                                                          "/var/lib/etcd",
                                                          "/var/lib/juicefs",
                                                          "/var/lib/kubelet",
                                                          "/var/lib/rancher",
                                                          "/var/log",
                                                          "/var/run",
                                                          "/var/spool"});

bool is_at_or_beneath(std::string_view path, std::string_view root) {
  if (root == "/") return true;
  return path == root || (path.starts_with(root) && path[root.size()] == '/');
}

// Absolute and normalized. The driver splits options at ',', '=' and ':' and passes them to a
// shell.
bool is_plain(const std::string& path) {
  if (!path.starts_with('/') || path.size() > 1024 || path.find(':') != path.npos) return false;
  if (!api::matches_pattern(path, api::kMountCacheDir)) return false;
  const std::string parts = path + "/";
  return parts.find("//") == parts.npos && parts.find("/./") == parts.npos &&
         parts.find("/../") == parts.npos;
}

}  // namespace

bool is_in_memory(const std::string& path) { return is_at_or_beneath(path, kShared); }

std::vector<std::string> split_directories(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(':', at), text.size());
    std::string path = text.substr(at, end - at);
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    if (!path.empty()) all.push_back(std::move(path));
    at = end + 1;
  }
  return all;
}

Result<> check_directory(const std::string& path, const std::vector<std::string>& roots) {
  const std::string named = "the cache directory '" + path.substr(0, 200) + "' ";
  if (!is_plain(path)) {
    return Error{
        Code::kInvalid,
        named + "is not an absolute path of letters, digits and . _ / @ % + - without '..'"};
  }
  const auto allows = [&](const std::string& root) {
    const auto plain = split_directories(root);
    return plain.size() == 1 && is_at_or_beneath(path, plain.front());
  };
  if (std::none_of(roots.begin(), roots.end(), allows)) {
    std::string list;
    for (const auto& root : roots) list += (list.empty() ? "" : ", ") + root;
    return Error{Code::kInvalid, named + "is not beneath " + (list.empty() ? "anything" : list) +
                                     ", where this cluster allows caches; choose another path, or "
                                     "ask the administrator for --cache-roots of the operator"};
  }
  if (is_in_memory(path)) return Done{};
  // A file system mounted beneath /dev may hold a cache (published examples use /dev/ssd/cache); an
  // entry of /dev itself is a device.
  const bool is_device = path.starts_with("/dev/") && path.find('/', 5) == path.npos;
  const auto clashes = [&](std::string_view system) {
    return is_at_or_beneath(path, system) || is_at_or_beneath(system, path);
  };
  if (is_device || std::any_of(kSystem.begin(), kSystem.end(), clashes)) {
    return Error{Code::kInvalid, named +
                                     "belongs to the node's system; choose one of its own, "
                                     "such as /ssd/cache or /dev/shm/cache"};
  }
  return Done{};
}

}  // namespace paddle::engine::juicefs
