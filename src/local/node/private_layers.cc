// SPDX-License-Identifier: Apache-2.0
#include "local/node/private_layers.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuse/mountinfo.h"
#include "local/node/mount_calls.h"
#include "local/node/os_error.h"

namespace paddle::local {
namespace {

// File systems with files of the machine, which an overlay of "/" does not include.
bool has_files(const fuse::MountEntry& mount) {
  static constexpr std::array<std::string_view, 8> kTypes{"ext4", "xfs", "btrfs", "ext3",
                                                          "ext2", "zfs", "f2fs",  "bcachefs"};
  return mount.point != "/" && std::ranges::find(kTypes, mount.type) != kTypes.end();
}

// Overlay options separate directories by ':' and options by ','.
std::string escaped(const std::string& path) {
  std::string out;
  for (const char c : path) {
    if (c == '\\' || c == ':' || c == ',') out += '\\';
    out += c;
  }
  return out;
}

// The same for every start of a container, whatever else is mounted.
std::string layer_name(const std::string& mount_point) {
  std::string name;
  for (const char c : mount_point)
    name += c == '/' ? std::string("@") : std::string(c == '@' ? 2 : 1, c);
  return name;
}

// Layers are in the container's directory; if that cannot be an upper layer (it is itself on an
// overlay), in a tmpfs.
class Layers {
 public:
  explicit Layers(std::string directory) : directory_(std::move(directory)) {}

  Result<> mount_over(const std::string& lower, const std::string& target) {
    const std::string name = layer_name(lower);
    if (!in_memory_) {
      TRY(const bool mounted, try_in(directory_ + "/layers/" + name, lower, target));
      if (mounted) return Done{};
    }
    CHECK_DONE(provide_memory());
    TRY(const bool mounted, try_in(memory() + "/" + name, lower, target));
    if (mounted) return Done{};
    return os_error("mount a private layer over " + lower);
  }

 private:
  std::string memory() const { return directory_ + "/memory"; }

  Result<> provide_memory() {
    if (in_memory_) return Done{};
    CHECK_DONE(make_directories(memory()));
    if (mount("tmpfs", memory().c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=0700") != 0) {
      return os_error("mount a private layer");
    }
    in_memory_ = true;
    return Done{};
  }

  static Result<bool> try_in(const std::string& layer, const std::string& lower,
                             const std::string& target) {
    CHECK_DONE(make_directories(layer + "/upper"));
    CHECK_DONE(make_directories(layer + "/work"));
    // The root of the upper layer is what the container sees as the root of the mount.
    struct stat original {};
    if (stat(lower.c_str(), &original) == 0) {
      const std::string upper = layer + "/upper";
      [[maybe_unused]] const int owner = chown(upper.c_str(), original.st_uid, original.st_gid);
      [[maybe_unused]] const int mode = chmod(upper.c_str(), original.st_mode & 07777);
    }
    const std::string options = "lowerdir=" + escaped(lower) +
                                ",upperdir=" + escaped(layer + "/upper") +
                                ",workdir=" + escaped(layer + "/work");
    return mount("overlay", target.c_str(), "overlay", MS_NODEV, options.c_str()) == 0;
  }

  const std::string directory_;
  bool in_memory_ = false;
};

bool is_directory(const std::string& path) {
  struct stat found {};
  return stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

}  // namespace

Result<std::vector<std::string>> mount_private_layers(const std::string& directory,
                                                      const std::string& root) {
  TRY(const auto machine, fuse::read_mountinfo());
  Layers layers(directory);
  CHECK_DONE(make_directories(root));
  CHECK_DONE(layers.mount_over("/", root));
  std::vector<std::string> points;
  for (const fuse::MountEntry& entry : machine) {
    // Of several mounts at one point the last is visible.
    if (!has_files(entry) || fuse::top_of(machine, entry.point)->id != entry.id) continue;
    const std::string target = root + entry.point;
    const bool layered = is_directory(entry.point) && bool(layers.mount_over(entry.point, target));
    // A mount that has vanished, or whose path a parent hides, stays out.
    if (!layered && !bind_with(MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV, entry.point, target)) continue;
    points.push_back(entry.point);
  }
  return points;
}

}  // namespace paddle::local
