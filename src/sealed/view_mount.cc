// SPDX-License-Identifier: Apache-2.0
#include "sealed/view_mount.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/log.h"
#include "base/sync.h"
#include "fuse/device_error.h"
#include "fuse/mountinfo.h"
#include "os/read_file.h"

namespace paddle::sealed {
namespace {

using fuse::device_error;

constexpr std::chrono::milliseconds kBusyPause{20};
constexpr long kLeastReadAheadKib = 1024;
constexpr int kMountTries = 5;
constexpr const char* kBdis = "/sys/class/bdi";

// One at a time, so that a new bdi belongs to the mount that was just made.
Mutex mount_mutex;

std::set<std::string> list_bdis() {
  std::set<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(kBdis), &::closedir);
  if (!open) return names;
  while (const dirent* entry = ::readdir(open.get())) {
    const std::string name = entry->d_name;
    if (name.starts_with("erofs-")) names.insert(name);
  }
  return names;
}

long read_ahead_of_disk(int file) {
  struct stat seen {};
  if (::fstat(file, &seen) != 0) return 0;
  const std::string device = "/sys/dev/block/" + std::to_string(major(seen.st_dev)) + ":" +
                             std::to_string(minor(seen.st_dev));
  for (const char* queue : {"/queue", "/../queue"}) {  // a disk, a partition
    const auto text = os::read_file(device + queue + "/read_ahead_kb", 64);
    if (text) return std::atol(text->c_str());
  }
  return 0;
}

void set_read_ahead(const std::string& bdi, long kib) {
  const std::string value = std::to_string(kib);
  const UniqueFd fd(
      ::open((std::string(kBdis) + "/" + bdi + "/read_ahead_kb").c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd || ::write(fd.get(), value.data(), value.size()) < 0) {
    log::info("read-ahead of a view stays at the kernel's default", {{"bdi", bdi}});
  }
}

std::string by_descriptor(int file) { return "/proc/self/fd/" + std::to_string(file); }

// What the kernel logged for a mount: lines like "e erofs: ...".
std::string messages_of(int context) {
  std::string all;
  char line[512];
  while (all.size() < 2000) {
    const ssize_t got = ::read(context, line, sizeof line);
    if (got <= 0) break;
    std::string_view text(line, static_cast<std::size_t>(got));
    while (!text.empty() && (text.back() == '\n' || text.back() == '\0')) text.remove_suffix(1);
    if (text.size() > 2 && text[1] == ' ') text.remove_prefix(2);
    if (!all.empty()) all += "; ";
    all += text;
  }
  return all;
}

int configure(int context, int image, std::span<const int> segments) {
  const auto set = [&](const char* key, const std::string& value) {
    return ::fsconfig(context, FSCONFIG_SET_STRING, key, value.c_str(), 0);
  };
  if (::fsconfig(context, FSCONFIG_SET_FLAG, "ro", nullptr, 0) != 0 ||
      set("source", by_descriptor(image)) != 0) {
    return errno;
  }
  for (const int segment : segments) {
    if (set("device", by_descriptor(segment)) != 0) return errno;
  }
  if (::fsconfig(context, FSCONFIG_SET_FLAG, "directio", nullptr, 0) != 0) return errno;
  return ::fsconfig(context, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) == 0 ? 0 : errno;
}

Result<> set_propagation(int fd, const std::string& name, std::uint64_t propagation) {
  mount_attr attr{};
  attr.propagation = propagation;
  if (::syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH, &attr, sizeof attr) != 0) {
    return device_error("set the propagation of '" + name + "'", errno);
  }
  return Done{};
}

Result<UniqueFd> open_path(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!fd) return device_error("open '" + path + "'", errno);
  return fd;
}

Result<> move_to(int tree, const std::string& point) {
  if (::move_mount(tree, "", AT_FDCWD, point.c_str(), MOVE_MOUNT_F_EMPTY_PATH) != 0) {
    return device_error("mount a view at '" + point + "'", errno);
  }
  return Done{};
}

// Whether `error` allows another attempt.
Result<> wait_while_busy(int error, const std::string& target, BootTime deadline,
                         const Clock& clock) {
  if (error != EBUSY) return device_error("unmount '" + target + "'", error);
  if (clock.boot() >= deadline) {
    return Error{Code::kConflict, "'" + target + "' is in use and cannot be unmounted yet"};
  }
  clock.sleep(kBusyPause, {});
  return Done{};
}

}  // namespace

namespace {

// Once. Other processes may mount at the same moment: then it cannot be told which bdi is ours.
ImageMount try_mount(int image, std::span<const int> segments) {
  ImageMount mounted;
  const UniqueFd context(::fsopen("erofs", FSOPEN_CLOEXEC));
  if (!context) {
    mounted.error = errno;
    return mounted;
  }
  const auto before = list_bdis();
  mounted.error = configure(context.get(), image, segments);
  if (mounted.error == 0) {
    mounted.tree = UniqueFd(::fsmount(context.get(), FSMOUNT_CLOEXEC,
                                      MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
    if (!mounted.tree) mounted.error = errno;
  }
  if (mounted.error != 0) {
    mounted.message = messages_of(context.get());
    return mounted;
  }
  const long kib =
      std::max(kLeastReadAheadKib, segments.empty() ? 0 : read_ahead_of_disk(segments.front()));
  std::vector<std::string> appeared;
  for (const std::string& name : list_bdis()) {
    if (before.contains(name)) continue;
    set_read_ahead(name, kib);
    appeared.push_back(name);
  }
  if (appeared.size() == 1) mounted.bdi = appeared.front();
  return mounted;
}

}  // namespace

ImageMount mount_image(int image, std::span<const int> segments) {
  Lock lock(mount_mutex);
  ImageMount mounted = try_mount(image, segments);
  for (int tries = 1; mounted.tree && mounted.bdi.empty() && tries < kMountTries; ++tries) {
    mounted = try_mount(image, segments);
  }
  return mounted;
}

bool is_in_use(const std::string& bdi) {
  return !bdi.empty() && ::access((std::string(kBdis) + "/" + bdi).c_str(), F_OK) == 0;
}

Result<> attach(int tree, const std::string& point) {
  CHECK_DONE(move_to(tree, point));
  // The mount above may be shared, which makes this one shared.
  auto done = set_propagation(tree, point, MS_PRIVATE);
  if (!done) ::umount2(point.c_str(), UMOUNT_NOFOLLOW);
  return done;
}

Result<> make_own_peer_group(const std::string& target) {
  TRY(const UniqueFd fd, open_path(target));
  CHECK_DONE(set_propagation(fd.get(), target, MS_PRIVATE));
  return set_propagation(fd.get(), target, MS_SHARED);
}

Result<> bind_view(const std::string& point, const std::string& target) {
  TRY(const auto mounts, fuse::read_mountinfo());
  TRY(const std::string canonical, fuse::canonical_mount_point(target));
  const auto below = fuse::top_of(mounts, canonical);
  if (below && below->peer_group != 0) {
    const auto peers = std::ranges::count(mounts, below->peer_group, &fuse::MountEntry::peer_group);
    if (peers > 1) {
      return Error{Code::kConflict,
                   "'" + target +
                       "' shares its peer group with other mounts; a view over it would "
                       "appear on those, too"};
    }
  }
  TRY(const UniqueFd from, open_path(point));
  const UniqueFd tree(static_cast<int>(
      ::syscall(SYS_open_tree, from.get(), "",
                AT_EMPTY_PATH | OPEN_TREE_CLONE | static_cast<unsigned>(OPEN_TREE_CLOEXEC))));
  if (!tree) return device_error("copy the mount of '" + point + "'", errno);
  CHECK_DONE(set_propagation(tree.get(), point, MS_PRIVATE));
  CHECK_DONE(move_to(tree.get(), target));
  // Its own group: private until now, unless the mount beneath has made it shared already.
  return set_propagation(tree.get(), target, MS_SHARED);
}

Result<int> unmount_all(const std::string& target, std::chrono::milliseconds grace,
                        const Clock& clock) {
  const BootTime deadline = clock.boot() + grace;
  for (int count = 0;;) {
    if (::umount2(target.c_str(), UMOUNT_NOFOLLOW) == 0) {
      ++count;
      continue;
    }
    if (errno == EINVAL || errno == ENOENT) return count;
    CHECK_DONE(wait_while_busy(errno, target, deadline, clock));
  }
}

Result<int> unmount_views(const std::string& target, std::chrono::milliseconds grace,
                          const Clock& clock) {
  TRY(const std::string canonical, fuse::canonical_mount_point(target));
  const BootTime deadline = clock.boot() + grace;
  for (int count = 0;;) {
    TRY(const auto mounts, fuse::read_mountinfo());
    const auto top = fuse::top_of(mounts, canonical);
    if (!top || top->type != "erofs") return count;
    if (::umount2(canonical.c_str(), UMOUNT_NOFOLLOW) == 0) {
      ++count;
      continue;
    }
    if (errno == EINVAL) return count;
    CHECK_DONE(wait_while_busy(errno, target, deadline, clock));
  }
}

}  // namespace paddle::sealed
