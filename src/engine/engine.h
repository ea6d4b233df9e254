// SPDX-License-Identifier: Apache-2.0
//
// The node's face of a cache engine: what a Cache Runtime Server has done on its node. The
// operator's face is manifests.h. An engine does I/O and knows nothing of jobs, ids or HTTP.
//
// Calls of different kinds may run at once; two of one kind do not. Each is idempotent: cut short
// by a kill, it is called again with the same arguments. Each blocks, ends soon after `stop` with
// kCancelled, and says how far it is through `tell` (from any of its threads, one at a time).
// An error is one sentence for the user, with what to do, and holds no secret.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"

namespace paddle::engine {

struct Progress {
  std::int64_t files_total = 0;  // 0 while not known
  std::int64_t files_done = 0;
  std::int64_t files_failed = 0;
  std::int64_t files_no_room = 0;
  std::int64_t bytes_total = 0;
  std::int64_t bytes_done = 0;
  std::int64_t bytes_per_second = 0;
  std::optional<std::int64_t> seconds_left{};
  bool operator==(const Progress&) const = default;
};
using ProgressSink = std::function<void(const Progress&)>;

// Which files of the set: those at and beneath `paths` (none: all), of these every
// `partitions`-th beginning with the `partition`-th.
struct Selection {
  std::vector<std::string> paths{};  // relative to the root of the set
  std::int32_t partition = 0;
  std::int32_t partitions = 1;
  bool operator==(const Selection&) const = default;
};

struct Status {
  struct Index {
    std::int64_t generation = 0;
    std::string digest{};
    std::int64_t files = 0;
    std::int64_t bytes = 0;
  };
  std::optional<Index> index{};  // absent before the first sync

  std::int64_t cached_files = 0;  // of the index, whole
  std::int64_t cached_bytes = 0;  // of the index
  std::int64_t limit = 0;         // what the cache may take
  std::int64_t disk_size = 0;
  std::int64_t disk_used = 0;
  std::int64_t disk_avail = 0;

  std::int64_t from_cache = 0;  // bytes that readers got, since the start
  std::int64_t from_memory = 0;
  std::int64_t from_source = 0;
  std::int64_t downloaded = 0;

  std::int64_t mounts = 0;  // being served
};

class NodeFace {
 public:
  virtual ~NodeFace() = default;
  virtual std::string name() const = 0;

  // The set as its source is now, for all readers from the return on.
  virtual Result<> sync(const ProgressSink& tell, std::stop_token stop) = 0;
  // Brings files into the cache. What does not fit is no error; a file that failed is.
  virtual Result<> warm_up(const Selection& which, const ProgressSink& tell,
                           std::stop_token stop) = 0;
  // Drops files from the cache; they stay in the set.
  virtual Result<> clear(const Selection& which, const ProgressSink& tell,
                         std::stop_token stop) = 0;
  // Takes files out of the set until a later sync brings them again.
  virtual Result<> remove(const Selection& which, const ProgressSink& tell,
                          std::stop_token stop) = 0;

  virtual Status status() = 0;
};

}  // namespace paddle::engine
