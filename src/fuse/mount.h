// SPDX-License-Identifier: Apache-2.0
//
// mount(2) for the data kind, its end, and the state between. Needs CAP_SYS_ADMIN.
//
// A mount whose daemon died stays in the tree and answers ENOTCONN to whatever the kernel has not
// cached: probe() tells, clear_dead() removes it. Nothing here removes a mount that is not FUSE,
// and unmount() only the one it is told by device.

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
  std::string source = "samplefs";  // what mount(8) shows first
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
// The comma list given to mount(2); pure. Values that could smuggle in an option are kInvalid.
Result<std::string> mount_data_options(int channel, const MountOptions& options);

enum class Health {
  kNotMounted,  // no FUSE mount there
  kAlive,
  kDead,  // its daemon is gone and nobody holds its descriptor
};
// Asks the daemon (STATFS): returns when it answers or is dead.
Result<Health> probe(const std::string& path);

enum class Unmounted {
  kNothing,  // it was not there any more
  kCleanly,
  kDetached,  // still in use after `grace`: gone from the tree, alive until its last user leaves
};
Result<Unmounted> unmount(const std::string& point, const std::string& device,
                          std::chrono::milliseconds grace, const Clock& clock = system_clock());

// Detaches dead FUSE mounts from `path`, however many are stacked. Returns how many.
Result<int> clear_dead(const std::string& path);

}  // namespace paddle::fuse
