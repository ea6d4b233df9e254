// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/tiers.h"

#include <algorithm>
#include <optional>

#include "engine/juicefs/cache_directories.h"
#include "engine/names.h"

namespace paddle::engine::juicefs {
namespace {

constexpr std::int64_t kClientMib = 2048;      // memory of the client beside its cache
constexpr std::int64_t kUsualMib = 5L * 1024;  // the driver's default limit

struct Found {
  std::vector<std::string> directories{};
  std::vector<bool> in_memory{};
  std::int64_t mib = 0;  // 0: not given
};

Found of_levels(const api::Cache& cache) {
  Found found;
  for (const auto& level : cache.levels) {
    for (auto& path : split_directories(level.path)) {
      if (std::find(found.directories.begin(), found.directories.end(), path) !=
          found.directories.end()) {
        continue;
      }
      found.in_memory.push_back(level.medium == "MEM" || is_in_memory(path));
      found.directories.push_back(std::move(path));
    }
    found.mib += std::max<std::int64_t>(level.size_mib.value_or(0), 0);
  }
  return found;
}

Found found_in(const api::SampleSet& set, const std::vector<std::string>& roots) {
  Found found = set.spec.cache ? of_levels(*set.spec.cache) : Found{};
  const auto* options = set.spec.csi && set.spec.csi->juicefs ? &*set.spec.csi->juicefs : nullptr;
  if (found.directories.empty() && options && options->cache_dir) {
    found.directories = split_directories(*options->cache_dir);
    for (const auto& path : found.directories) {
      found.in_memory.push_back(path == kOwnMemory || is_in_memory(path));
    }
  }
  if (found.directories.empty() && !roots.empty()) {
    const std::string root = split_directories(roots.front() + ":/").front();
    found.directories = {root};
    found.in_memory = {is_in_memory(root)};
  }
  return found;
}

// The share of the directories that are memory.
std::int64_t memory_share(const Found& found, std::int64_t mib) {
  const auto in_memory = std::count(found.in_memory.begin(), found.in_memory.end(), true);
  const auto all = static_cast<std::int64_t>(found.directories.size());
  return (mib * in_memory + all - 1) / all;
}

std::string limit_of(std::int64_t memory_mib, bool in_memory, std::int64_t buffer_mib) {
  const std::int64_t client = kClientMib + buffer_mib;
  if (!in_memory && client <= kUsualMib) return {};
  return std::to_string(memory_mib + client) + "Mi";
}

}  // namespace

Result<Tiers> tiers_of(const api::SampleSet& set, const std::vector<std::string>& roots) {
  const Found found = found_in(set, roots);
  const auto* options = set.spec.csi && set.spec.csi->juicefs ? &*set.spec.csi->juicefs : nullptr;
  if (found.directories.empty()) {
    return Error{Code::kInvalid,
                 "the operator allows no cache on nodes; its administrator sets --cache-roots"};
  }
  std::optional<std::int64_t> given;
  if (found.mib > 0) {
    given = found.mib;
  } else if (options) {
    given = options->cache_size;
  }
  const bool in_memory =
      std::find(found.in_memory.begin(), found.in_memory.end(), true) != found.in_memory.end();
  Tiers tiers;
  for (const auto& path : found.directories) {
    if (path == kOwnMemory) {
      tiers.directories.push_back(path);
      if (given) continue;
      return Error{Code::kInvalid,
                   "cache-dir 'memory' needs a cache-size: nothing else would bound it"};
    }
    CHECK_DONE(check_directory(path, roots));
    tiers.directories.push_back((path == "/" ? "" : path) + "/" + handle_of(set));
  }
  const auto count = static_cast<std::int64_t>(tiers.directories.size());
  tiers.mib = given.value_or(in_memory ? kDefaultMemoryMib * count : kDefaultDiskMib);
  const std::int64_t buffer = options ? options->buffer_size.value_or(0) : 0;
  tiers.memory_mib = memory_share(found, in_memory ? tiers.mib : 0);
  tiers.memory_limit = limit_of(tiers.memory_mib, in_memory, std::max<std::int64_t>(buffer, 0));
  return tiers;
}

}  // namespace paddle::engine::juicefs
