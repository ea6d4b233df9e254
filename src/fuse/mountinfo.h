// SPDX-License-Identifier: Apache-2.0
//
// /proc/self/mountinfo as values. Reading it calls no file system, so it works for mounts whose
// daemon is dead or stuck. Parsing is pure; a line that does not parse is skipped.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace paddle::fuse {

struct MountEntry {
  int id = 0;
  std::string device{};  // "0:52"
  std::string point{};   // unescaped
  std::string type{};    // "fuse.samplefs"
  std::string source{};
  int peer_group = 0;  // of mounts that pass on what is mounted on one of them; 0: none
  bool is_fuse() const { return type == "fuse" || type.starts_with("fuse."); }
  bool operator==(const MountEntry&) const = default;
};

std::vector<MountEntry> parse_mountinfo(std::string_view text);
Result<std::vector<MountEntry>> read_mountinfo();

// The visible mount at `point`: the last one mounted there.
std::optional<MountEntry> top_of(const std::vector<MountEntry>& mounts, std::string_view point);

// Absolute, without symbolic links in the directories above; never accesses the mount itself.
Result<std::string> canonical_mount_point(const std::string& path);

}  // namespace paddle::fuse
