// SPDX-License-Identifier: Apache-2.0
#include "local/node/private_root.h"

#include <array>
#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "local/node/mount_calls.h"
#include "local/node/os_error.h"
#include "local/node/private_devices.h"
#include "local/node/private_layers.h"

namespace paddle::local {
namespace {

int open_beneath(int root, const std::string& path, std::uint64_t flags) {
  open_how how{};
  how.flags = flags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(syscall(SYS_openat2, root, path.c_str(), &how, sizeof how));
}

struct Volume {
  UniqueFd tree{};
  std::string real{};                // the path on the machine, without links
  std::vector<std::string> shown{};  // beneath it, and hidden from containers
};

std::string path_of(int fd) {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), error).string();
}

// A detached copy of the mount at the source, made while the old root is still visible.
Result<Volume> detach(const BindMount& mount, bool devices) {
  UniqueFd root(open(mount.source.c_str(), O_PATH | O_CLOEXEC));
  if (!root) return os_error("open volume " + mount.source);
  if (!mount.sub_path.empty()) {
    if (mount.create_directory) mkdirat(root.get(), mount.sub_path.c_str(), 0755);
    UniqueFd beneath(open_beneath(root.get(), mount.sub_path, O_PATH | O_CLOEXEC));
    if (!beneath) return os_error("open " + mount.sub_path + " in volume " + mount.source);
    root = std::move(beneath);
  }
  const std::string name = "volume " + mount.source;
  TRY(UniqueFd tree, clone_tree(root.get(), /*recursive=*/true, name));
  const std::uint64_t attributes =
      (mount.read_only ? MOUNT_ATTR_RDONLY : 0) | (devices ? 0 : MOUNT_ATTR_NODEV);
  if (attributes != 0) {
    CHECK_DONE(set_mount_attributes(tree.get(), attributes, /*recursive=*/true, name));
  }
  return Volume{.tree = std::move(tree), .real = path_of(root.get())};
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
    UniqueFd file(open(target.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0644));
    if (!file) return os_error("create " + target);
  }
  return attach_tree(tree, target);
}

// The places where the mount at `point` shows the same file or directory as `path`: the mount may
// be a bind of one of its parents.
std::vector<std::string> places_of(const std::string& path, const std::string& point) {
  std::vector<std::string> places;
  struct stat wanted {};
  if (stat(path.c_str(), &wanted) != 0) return places;
  for (std::size_t at = 0; at != path.npos; at = path.find('/', at + 1)) {
    const std::string place = point + path.substr(at);
    struct stat found {};
    const bool same = stat(place.c_str(), &found) == 0 && found.st_dev == wanted.st_dev &&
                      found.st_ino == wanted.st_ino;
    if (same) places.push_back(place);
  }
  return places;
}

// What a volume shows of directories that containers must not see: paths on the machine.
std::vector<std::string> shown_by(const std::string& real, const std::vector<std::string>& hidden,
                                  const std::vector<std::string>& points) {
  const std::string prefix = real == "/" ? real : real + "/";
  std::vector<std::string> shown;
  for (const std::string& path : hidden) {
    std::vector<std::string> places{path};
    for (const std::string& point : points) {
      for (std::string& place : places_of(path, point)) places.push_back(std::move(place));
    }
    for (const std::string& place : places) {
      if (place.starts_with(prefix)) shown.push_back(place.substr(prefix.size()));
    }
  }
  return shown;
}

Result<> cover_hidden(const std::string& root, const std::vector<std::string>& hidden,
                      const std::vector<std::string>& layered) {
  for (const std::string& path : hidden) {
    CHECK_DONE(cover(root + path));
    for (const std::string& point : layered) {
      for (const std::string& place : places_of(path, point)) {
        if (place != path) CHECK_DONE(cover(root + place));
      }
    }
  }
  return Done{};
}

// Files of the kernel by which root of a container could change the machine or read its memory.
Result<> protect_kernel_files(const std::string& root) {
  static constexpr std::array kReadOnly{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys",
                                        "/proc/sysrq-trigger"};
  static constexpr std::array kHidden{"/proc/acpi", "/proc/kcore",      "/proc/keys",
                                      "/proc/scsi", "/proc/timer_list", "/sys/firmware"};
  for (const std::string path : kReadOnly) {
    if (access((root + path).c_str(), F_OK) == 0) {
      CHECK_DONE(bind_with(MOUNT_ATTR_RDONLY, root + path, root + path));
    }
  }
  for (const std::string path : kHidden) CHECK_DONE(cover(root + path));
  return Done{};
}

Result<> mount_kernel_files(const std::string& root, bool privileged) {
  CHECK_DONE(make_directories(root + "/dev"));
  CHECK_DONE(privileged ? bind_recursively("/dev", root + "/dev") : mount_devices(root + "/dev"));
  // A new sysfs shows the pod's own network devices.
  CHECK_DONE(make_directories(root + "/sys"));
  if (mount("sysfs", (root + "/sys").c_str(), "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY,
            nullptr) != 0) {
    CHECK_DONE(bind_recursively("/sys", root + "/sys"));
    CHECK_DONE(set_mount_attributes(root + "/sys", MOUNT_ATTR_RDONLY, /*recursive=*/true));
  }
  CHECK_DONE(make_directories(root + "/proc"));
  if (mount("proc", (root + "/proc").c_str(), "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) !=
      0) {
    return os_error("mount /proc");
  }
  return privileged ? Result<>(Done{}) : protect_kernel_files(root);
}

Result<> mount_tmp(const std::string& directory, const std::string& root) {
  CHECK_DONE(make_directories(root + "/tmp"));
  const std::string tmp = directory + "/tmp";
  CHECK_DONE(make_directories(tmp));
  if (chmod(tmp.c_str(), 01777) != 0) return os_error("set the mode of /tmp");
  CHECK_DONE(bind_recursively(tmp, root + "/tmp"));
  return set_mount_attributes(root + "/tmp", MOUNT_ATTR_NODEV, /*recursive=*/false);
}

Result<> pivot(const std::string& root) {
  if (chdir(root.c_str()) != 0) return os_error("enter " + root);
  if (syscall(SYS_pivot_root, ".", ".") != 0) return os_error("change the root");
  if (umount2(".", MNT_DETACH) != 0) return os_error("leave the old root");
  if (chdir("/") != 0) return os_error("enter the new root");
  return Done{};
}

}  // namespace

Result<> enter_private_root(const ContainerPlan& plan) {
  if (mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0)
    return os_error("detach mounts");

  const bool privileged = plan.security.privileged;
  std::vector<Volume> volumes;
  for (const BindMount& mount : plan.mounts) {
    TRY(auto volume, detach(mount, privileged));
    volumes.push_back(std::move(volume));
  }

  const std::string root = plan.directory + "/root";
  TRY(const std::vector<std::string> layered, mount_private_layers(plan.directory, root));
  CHECK_DONE(cover_hidden(root, plan.hidden, layered));
  for (Volume& volume : volumes) volume.shown = shown_by(volume.real, plan.hidden, layered);
  CHECK_DONE(mount_kernel_files(root, privileged));
  CHECK_DONE(mount_tmp(plan.directory, root));
  // Opened now: volumes may be mounted over them later.
  std::vector<UniqueFd> own{};
  own.emplace_back(open(root.c_str(), O_PATH | O_CLOEXEC));
  own.emplace_back(open((root + "/tmp").c_str(), O_PATH | O_CLOEXEC));
  for (const std::string& point : layered) {
    own.emplace_back(open((root + point).c_str(), O_PATH | O_CLOEXEC));
  }

  CHECK_DONE(pivot(root));
  for (size_t i = 0; i < plan.mounts.size(); ++i) {
    CHECK_DONE(attach(volumes[i].tree.get(), plan.mounts[i].target));
    for (const std::string& path : volumes[i].shown) {
      CHECK_DONE(cover(plan.mounts[i].target + "/" + path));
    }
  }
  if (!plan.security.read_only_root) return Done{};
  for (const UniqueFd& each : own) {
    CHECK_DONE(set_mount_attributes(each.get(), MOUNT_ATTR_RDONLY, /*recursive=*/false,
                                    "the container's root"));
  }
  return Done{};
}

}  // namespace paddle::local
