// SPDX-License-Identifier: Apache-2.0
//
// The mount calls of sealed views. Needs CAP_SYS_ADMIN. What a view is made of is named by
// descriptor, never by path: a path could be replaced by a link.
//
// A view is mounted where no process sees it (mount_image), checked there (view_check.h), attached
// to a place of ours, and bound from there over the targets of pods. No step shows an empty
// directory.
//
// Mounts that are bound from one another share a peer group: what is mounted over one of them, or
// taken away, is so on all. So each target is a group of its own (make_own_peer_group).

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace paddle::sealed {

struct ImageMount {
  UniqueFd tree{};        // the root of the mount, which is attached nowhere
  int error = 0;          // else an errno
  std::string message{};  // and what the kernel logged
  std::string bdi{};      // its entry in /sys/class/bdi; empty when it could not be told
};
// Read-only, nosuid, nodev, direct I/O to the segments. Read-ahead is that of the segments' disk,
// at least 1 MiB: with the kernel's 128 KiB large files are read at half the speed.
ImageMount mount_image(int image, std::span<const int> segments);

// Whether the kernel still has the file system of that bdi: a mount in any namespace (a container
// that was started on a view has its own), or an open file.
bool is_in_use(const std::string& bdi);

// Attaches a mount to a directory, as a private mount.
Result<> attach(int tree, const std::string& point);

// Makes the mount at `target` the only one of its peer group, shared, so that pods see what is
// mounted over it later. REQUIRES: `target` is a mount point.
Result<> make_own_peer_group(const std::string& target);

// Binds the mount at `point` over `target`. kConflict when the mount at `target` shares its peer
// group with another one: the view would appear there, too.
Result<> bind_view(const std::string& point, const std::string& target);

// Unmounts `target` until nothing is mounted there; never lazily, which would take files from a
// reader. kConflict while something uses it after `grace`: to be tried again. Returns how many.
Result<int> unmount_all(const std::string& target, std::chrono::milliseconds grace,
                        const Clock& clock = system_clock());
// Unmounts only the views (EROFS) on top of it: what lies beneath is visible again.
Result<int> unmount_views(const std::string& target, std::chrono::milliseconds grace,
                          const Clock& clock = system_clock());

}  // namespace paddle::sealed
