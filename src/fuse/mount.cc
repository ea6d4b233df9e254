// SPDX-License-Identifier: Apache-2.0
#include "fuse/mount.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/statfs.h>

#include "base/log.h"
#include "fuse/channel.h"
#include "fuse/device_error.h"

namespace paddle::fuse {
namespace {

constexpr std::chrono::milliseconds kBusyPause{20};

// INIT can only lower the read-ahead; raising it is done here, by the owner of the mount.
void set_read_ahead(const std::string& device, std::uint32_t bytes) {
  const std::string path = "/sys/class/bdi/" + device + "/read_ahead_kb";
  const std::string value = std::to_string(bytes / 1024);
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd || ::write(fd.get(), value.data(), value.size()) < 0) {
    log::info("read-ahead stays at the kernel's default", {{"device", device}});
  }
}

bool plain(const std::string& text) {
  return !text.empty() && text.find_first_of(std::string_view(",\\ \t\n\0", 6)) == text.npos;
}

}  // namespace

Result<std::string> mount_data_options(int channel, const MountOptions& options) {
  if (!plain(options.subtype) || !plain(options.source)) {
    return Error{Code::kInvalid, "source and subtype of a mount must be plain words"};
  }
  std::string list = "fd=" + std::to_string(channel) + ",rootmode=40000";
  list += ",user_id=" + std::to_string(options.user_id);
  list += ",group_id=" + std::to_string(options.group_id);
  list += ",default_permissions,max_read=" + std::to_string(options.max_read);
  if (options.allow_other) list += ",allow_other";
  return list;
}

Result<Mounted> mount_data(const std::string& path, const MountOptions& options) {
  Mounted mounted;
  TRY(mounted.point, canonical_mount_point(path));
  TRY(mounted.channel, open_device());
  TRY(const std::string list, mount_data_options(mounted.channel.get(), options));
  const std::string type = "fuse." + options.subtype;
  if (::mount(options.source.c_str(), mounted.point.c_str(), type.c_str(),
              MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOATIME, list.c_str()) != 0) {
    return device_error("mount '" + mounted.point + "'", errno);
  }
  const auto mounts = read_mountinfo();
  const auto ours = mounts ? top_of(*mounts, mounted.point) : std::nullopt;
  if (!ours || ours->type != type) {
    ::umount2(mounted.point.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
    return Error{Code::kInternal, "'" + mounted.point + "' was mounted but is not listed"};
  }
  mounted.device = ours->device;
  if (options.read_ahead > 0) set_read_ahead(mounted.device, options.read_ahead);
  return mounted;
}

Result<Health> probe(const std::string& path) {
  TRY(const std::string point, canonical_mount_point(path));
  TRY(const auto mounts, read_mountinfo());
  const auto top = top_of(mounts, point);
  if (!top || !top->is_fuse()) return Health::kNotMounted;
  struct statfs answer {};
  while (::statfs(point.c_str(), &answer) != 0) {
    if (errno == EINTR) continue;
    if (errno == ENOTCONN || errno == ECONNABORTED) return Health::kDead;
    break;  // a daemon that answers with another error is alive
  }
  return Health::kAlive;
}

Result<Unmounted> unmount(const std::string& point, const std::string& device,
                          std::chrono::milliseconds grace, const Clock& clock) {
  const BootTime deadline = clock.boot() + grace;
  while (true) {
    TRY(const auto mounts, read_mountinfo());
    const auto top = top_of(mounts, point);
    if (!top) return Unmounted::kNothing;
    if (top->device != device) {
      for (const MountEntry& entry : mounts) {
        if (entry.point == point && entry.device == device) {
          return Error{Code::kConflict, "another mount covers ours at '" + point + "'"};
        }
      }
      return Unmounted::kNothing;
    }
    if (::umount2(point.c_str(), UMOUNT_NOFOLLOW) == 0) return Unmounted::kCleanly;
    if (errno != EBUSY) return device_error("unmount '" + point + "'", errno);
    if (clock.boot() >= deadline) break;
    clock.sleep(kBusyPause, {});
  }
  if (::umount2(point.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) != 0) {
    return device_error("detach '" + point + "'", errno);
  }
  return Unmounted::kDetached;
}

Result<int> clear_dead(const std::string& path) {
  TRY(const std::string point, canonical_mount_point(path));
  for (int cleared = 0;; ++cleared) {
    TRY(const Health health, probe(point));
    if (health != Health::kDead) return cleared;
    if (::umount2(point.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) != 0) {
      return device_error("detach '" + point + "'", errno);
    }
  }
}

}  // namespace paddle::fuse
