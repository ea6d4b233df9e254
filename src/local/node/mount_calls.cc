// SPDX-License-Identifier: Apache-2.0
#include "local/node/mount_calls.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "local/node/os_error.h"

namespace paddle::local {

Result<> make_directories(const std::string& path) {
  for (size_t at = 1; at != std::string::npos;) {
    at = path.find('/', at);
    const std::string part = path.substr(0, at);
    if (mkdir(part.c_str(), 0755) != 0 && errno != EEXIST) {
      if (errno != EROFS) return os_error("create " + part);
      return Error{Code::kInvalid,
                   "a volume cannot be mounted at " + path + ": there is no " + part +
                       " in the read-only volume around it, such as samples; mount it outside"};
    }
    if (at != std::string::npos) ++at;
  }
  return Done{};
}

Result<UniqueFd> clone_tree(int fd, bool recursive, const std::string& name) {
  const unsigned flags = AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0) | OPEN_TREE_CLONE |
                         static_cast<unsigned>(OPEN_TREE_CLOEXEC);
  UniqueFd tree(static_cast<int>(syscall(SYS_open_tree, fd, "", flags)));
  if (!tree) return os_error("clone the mount of " + name);
  return tree;
}

Result<> attach_tree(int tree, const std::string& target) {
  if (syscall(SYS_move_mount, tree, "", AT_FDCWD, target.c_str(), MOVE_MOUNT_F_EMPTY_PATH) != 0) {
    return os_error("mount at " + target);
  }
  return Done{};
}

Result<> set_mount_attributes(int fd, std::uint64_t attributes, bool recursive,
                              const std::string& name) {
  mount_attr attr{};
  attr.attr_set = attributes;
  const unsigned flags = AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0);
  if (syscall(SYS_mount_setattr, fd, "", flags, &attr, sizeof attr) != 0) {
    return os_error("set the mount options of " + name);
  }
  return Done{};
}

Result<> set_mount_attributes(const std::string& point, std::uint64_t attributes, bool recursive) {
  const UniqueFd fd(open(point.c_str(), O_PATH | O_CLOEXEC));
  if (!fd) return os_error("open " + point);
  return set_mount_attributes(fd.get(), attributes, recursive, point);
}

Result<> bind_recursively(const std::string& from, const std::string& to) {
  if (mount(from.c_str(), to.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) {
    return os_error("bind " + from);
  }
  return Done{};
}

Result<> bind_with(std::uint64_t attributes, const std::string& from, const std::string& to) {
  const UniqueFd fd(open(from.c_str(), O_PATH | O_CLOEXEC));
  if (!fd) return os_error("open " + from);
  TRY(const UniqueFd tree, clone_tree(fd.get(), /*recursive=*/false, from));
  CHECK_DONE(set_mount_attributes(tree.get(), attributes, /*recursive=*/false, from));
  return attach_tree(tree.get(), to);
}

Result<> cover(const std::string& path) {
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0) {
    return errno == ENOENT || errno == ENOTDIR ? Result<>(Done{}) : os_error("hide " + path);
  }
  if (!S_ISDIR(found.st_mode)) return bind_with(MOUNT_ATTR_RDONLY, "/dev/null", path);
  if (mount("tmpfs", path.c_str(), "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY,
            "mode=0755,size=4k") != 0) {
    return os_error("hide " + path);
  }
  return Done{};
}

}  // namespace paddle::local
