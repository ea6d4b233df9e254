// SPDX-License-Identifier: Apache-2.0
//
// Mounts and unmounts data mounts, and probes their state. Needs CAP_SYS_ADMIN.
//
// A mount whose daemon died stays in the tree and returns ENOTCONN for everything that the kernel
// has not cached: probe() detects it, clear_dead() removes it. No function here removes a mount
// that is not FUSE; unmount() removes only the mount of the given device.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "fuse/mountinfo.h"

namespace paddle::fuse {

struct MountOptions {
  std::string source = "samplefs";  // the source column of mount(8)
  std::string subtype = "samplefs";
  bool allow_other = true;  // pods run as any user
  std::uint32_t user_id = 0;
  std::uint32_t group_id = 0;
  std::uint32_t max_read = 1 << 20;
  std::uint32_t read_ahead = 1 << 20;  // bytes; 0 leaves the kernel's 128 KiB
};

struct Mounted {
  UniqueFd channel{};   // INIT waits in it
  std::string point{};  // canonical
  std::string device{};
};

// Read-only, nosuid, nodev, noatime, default_permissions.
Result<Mounted> mount_data(const std::string& path, const MountOptions& options);
// The comma list given to mount(2); pure. kInvalid for values that could add another option.
Result<std::string> mount_data_options(int channel, const MountOptions& options);

enum class Health {
  kNotMounted,  // no FUSE mount there
  kAlive,
  kDead,  // its daemon is gone and no process holds its descriptor
};
// Sends a STATFS to the daemon; returns when it answers or is dead.
Result<Health> probe(const std::string& path);

enum class Unmounted {
  kNothing,  // it was already gone
  kCleanly,
  kDetached,  // still in use after `grace`: no longer in the tree, ends with its last user
};
Result<Unmounted> unmount(const std::string& point, const std::string& device,
                          std::chrono::milliseconds grace, const Clock& clock = system_clock());

// Detaches dead FUSE mounts from `path`, however many are stacked. Returns how many.
Result<int> clear_dead(const std::string& path);

}  // namespace paddle::fuse
