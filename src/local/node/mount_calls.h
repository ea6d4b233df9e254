// SPDX-License-Identifier: Apache-2.0
//
// The mount system calls that several files of a container's set-up need. Errors are those of
// os_error.h.

#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace paddle::local {

// Like mkdir -p, mode 0755.
Result<> make_directories(const std::string& path);

// A detached copy of the mount at `fd` with everything mounted beneath it, or without.
Result<UniqueFd> clone_tree(int fd, bool recursive, const std::string& name);
Result<> attach_tree(int tree, const std::string& target);

// Sets MOUNT_ATTR_... of a mount: `fd` is a detached copy or the root of a mount.
Result<> set_mount_attributes(int fd, std::uint64_t attributes, bool recursive,
                              const std::string& name);
Result<> set_mount_attributes(const std::string& point, std::uint64_t attributes, bool recursive);

Result<> bind_recursively(const std::string& from, const std::string& to);
// Binds the mount at `from` without those beneath it; `from` and `to` may be the same.
Result<> bind_with(std::uint64_t attributes, const std::string& from, const std::string& to);

// Covers a directory by an empty one and a file by /dev/null; nothing if the path does not exist.
Result<> cover(const std::string& path);

}  // namespace paddle::local
