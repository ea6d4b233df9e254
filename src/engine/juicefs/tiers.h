// SPDX-License-Identifier: Apache-2.0
//
// The cache directories of JuiceFS on a node, their size, and the memory limit of its client. Pure.
// They come from spec.cache.levels, else from csi.juiceFSMountOptions, else there is one beneath
// the first allowed root. Each path gets the set's handle as its last part: sets of different
// tenants never share a directory, so none reads or clears the blocks of another.
//
// JuiceFS has one size for all directories and gives each an equal share, whatever the levels say;
// the memory limit follows that. Pages of /dev/shm count as memory of the mount pod, and with the
// driver's default limit (5 GiB) it would be killed.
//
// The mount pod is bound to its node by the driver, so the scheduler cannot keep memory for it: the
// runtime's pod, which is scheduled, requests it instead. Every cache has a size: without one, each
// directory has kDefaultMemoryMib if any is in memory, else they have kDefaultDiskMib in all.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/sample_set.h"
#include "base/result.h"

namespace paddle::engine::juicefs {

inline constexpr std::int64_t kDefaultDiskMib = 102400;  // JuiceFS's own default
inline constexpr std::int64_t kDefaultMemoryMib = 1024;
inline constexpr const char* kOwnMemory = "memory";  // JuiceFS's word for its own heap

struct Tiers {
  std::vector<std::string> directories{};  // of nodes, or kOwnMemory
  std::int64_t mib = kDefaultDiskMib;      // in all
  std::int64_t memory_mib = 0;             // of `mib`, in directories that are memory
  std::string memory_limit{};              // of the mount pod; empty: the driver's own
  bool operator==(const Tiers&) const = default;
};

Result<Tiers> tiers_of(const api::SampleSet& set, const std::vector<std::string>& roots);

}  // namespace paddle::engine::juicefs
