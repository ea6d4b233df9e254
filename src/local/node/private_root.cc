// SPDX-License-Identifier: Apache-2.0
#include "local/node/private_root.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "local/node/os_error.h"

namespace paddle::local {
namespace {

Result<> make_directories(const std::string& path) {
  for (size_t at = 1; at != std::string::npos;) {
    at = path.find('/', at);
    const std::string part = path.substr(0, at);
    if (mkdir(part.c_str(), 0755) != 0 && errno != EEXIST) return os_error("create " + part);
    if (at != std::string::npos) ++at;
  }
  return Done{};
}

int open_beneath(int root, const std::string& path, std::uint64_t flags) {
  open_how how{};
  how.flags = flags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(syscall(SYS_openat2, root, path.c_str(), &how, sizeof how));
}

// A detached copy of the mount at the source, made while the old root is still visible.
Result<UniqueFd> detach(const BindMount& mount) {
  UniqueFd root(open(mount.source.c_str(), O_PATH | O_CLOEXEC));
  if (!root) return os_error("open volume " + mount.source);
  if (!mount.sub_path.empty()) {
    if (mount.create_directory) mkdirat(root.get(), mount.sub_path.c_str(), 0755);
    UniqueFd beneath(open_beneath(root.get(), mount.sub_path, O_PATH | O_CLOEXEC));
    if (!beneath) return os_error("open " + mount.sub_path + " in volume " + mount.source);
    root = std::move(beneath);
  }
  UniqueFd tree(static_cast<int>(
      syscall(SYS_open_tree, root.get(), "",
              AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC)));
  if (!tree) return os_error("clone the mount of volume " + mount.source);
  if (mount.read_only) {
    mount_attr attr{};
    attr.attr_set = MOUNT_ATTR_RDONLY;
    if (syscall(SYS_mount_setattr, tree.get(), "", AT_EMPTY_PATH | AT_RECURSIVE, &attr,
                sizeof attr) != 0) {
      return os_error("make volume " + mount.source + " read-only");
    }
  }
  return tree;
}

Result<bool> is_directory(int fd) {
  struct stat st {};
  if (fstat(fd, &st) != 0) return os_error("stat a volume");
  return S_ISDIR(st.st_mode);
}

// Runs inside the new root: "/" is the container's.
Result<> attach(int tree, const std::string& target) {
  TRY(const bool directory, is_directory(tree));
  if (directory) {
    CHECK_DONE(make_directories(target));
  } else {
    const size_t slash = target.rfind('/');
    if (slash > 0 && slash != std::string::npos)
      CHECK_DONE(make_directories(target.substr(0, slash)));
    UniqueFd file(open(target.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    if (!file) return os_error("create " + target);
  }
  if (syscall(SYS_move_mount, tree, "", AT_FDCWD, target.c_str(), MOVE_MOUNT_F_EMPTY_PATH) != 0) {
    return os_error("mount at " + target);
  }
  return Done{};
}

// overlayfs of the machine's root and a private layer. If the private directory cannot be an upper
// layer (it is itself on an overlay), a tmpfs is used.
Result<> overlay(const std::string& directory, const std::string& root) {
  const auto mount_with = [&](const std::string& layers) {
    const std::string options =
        "lowerdir=/,upperdir=" + layers + "/upper,workdir=" + layers + "/work";
    return mount("overlay", root.c_str(), "overlay", 0, options.c_str()) == 0;
  };
  CHECK_DONE(make_directories(directory + "/upper"));
  CHECK_DONE(make_directories(directory + "/work"));
  CHECK_DONE(make_directories(root));
  if (mount_with(directory)) return Done{};
  const std::string memory = directory + "/memory";
  CHECK_DONE(make_directories(memory));
  if (mount("tmpfs", memory.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=0700") != 0) {
    return os_error("mount a private layer");
  }
  CHECK_DONE(make_directories(memory + "/upper"));
  CHECK_DONE(make_directories(memory + "/work"));
  if (mount_with(memory)) return Done{};
  return os_error("mount a private layer over this machine's files");
}

// Mounts with files of the machine, which an overlay of "/" does not include.
std::vector<std::string> visible_mounts() {
  static constexpr std::array<std::string_view, 6> kFiles{"ext4", "xfs",  "btrfs",
                                                          "ext3", "ext2", "zfs"};
  std::vector<std::string> out;
  std::ifstream table("/proc/self/mountinfo");
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line);
    std::string skip, where, type;
    words >> skip >> skip >> skip >> skip >> where;
    while (words >> skip && skip != "-") {
    }
    words >> type;
    if (where != "/" && std::ranges::find(kFiles, type) != kFiles.end()) out.push_back(where);
  }
  return out;
}

Result<> bind_recursively(const std::string& from, const std::string& to) {
  if (mount(from.c_str(), to.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) {
    return os_error("bind " + from);
  }
  return Done{};
}

Result<> pivot(const std::string& root) {
  if (chdir(root.c_str()) != 0) return os_error("enter " + root);
  if (syscall(SYS_pivot_root, ".", ".") != 0) return os_error("change the root");
  if (umount2(".", MNT_DETACH) != 0) return os_error("leave the old root");
  if (chdir("/") != 0) return os_error("enter the new root");
  return Done{};
}

}  // namespace

Result<> enter_private_root(const std::string& directory, const std::vector<BindMount>& mounts) {
  if (mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0)
    return os_error("detach mounts");

  std::vector<UniqueFd> trees;
  for (const BindMount& mount : mounts) {
    TRY(auto tree, detach(mount));
    trees.push_back(std::move(tree));
  }

  const std::string root = directory + "/root";
  CHECK_DONE(overlay(directory, root));
  for (const std::string& where : visible_mounts()) {
    // Ignore mounts that have vanished or whose path the overlay hides.
    if (auto bound = bind_recursively(where, root + where); !bound) continue;
  }
  CHECK_DONE(bind_recursively("/dev", root + "/dev"));
  // A new sysfs shows the pod's own network devices.
  if (mount("sysfs", (root + "/sys").c_str(), "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY,
            nullptr) != 0) {
    CHECK_DONE(bind_recursively("/sys", root + "/sys"));
  }
  CHECK_DONE(make_directories(root + "/proc"));
  if (mount("proc", (root + "/proc").c_str(), "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) !=
      0) {
    return os_error("mount /proc");
  }
  CHECK_DONE(make_directories(root + "/tmp"));
  const std::string tmp = directory + "/tmp";
  CHECK_DONE(make_directories(tmp));
  if (chmod(tmp.c_str(), 01777) != 0) return os_error("set the mode of /tmp");
  CHECK_DONE(bind_recursively(tmp, root + "/tmp"));

  CHECK_DONE(pivot(root));
  for (size_t i = 0; i < mounts.size(); ++i) CHECK_DONE(attach(trees[i].get(), mounts[i].target));
  return Done{};
}

}  // namespace paddle::local
