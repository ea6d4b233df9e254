// SPDX-License-Identifier: Apache-2.0
//
// Polls in the background how large the set is and how much of it is cached; status() returns the
// last result at once. It polls every few seconds (time_limits.h), and immediately after a job has
// changed something.
//
// Of a large set, only the node's own part is checked (usage_estimate.h): all nodes check at once,
// against the metadata that trainers use.
//
// JuiceFS's own counts give the files and bytes of the set; files are counted exactly only when
// those have changed. The client checks what is cached block by block, so that is polled only when
// its cache has changed. Neither takes more than a tenth of the time, unless a job has changed
// something; in between, the numbers of a large set are estimated from JuiceFS's counts and the
// size of the client's cache (usage_estimate.h). A client that hangs blocks only the polling
// thread, and status() reports it. Thread-safe.

#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/sync.h"
#include "engine/juicefs/node/client/control.h"
#include "engine/node_engine.h"

namespace paddle::engine::juicefs {

class UsagePoller {
 public:
  // `cache_bytes`: the most that the client may cache.
  UsagePoller(const std::string& mount, std::int64_t cache_bytes);
  ~UsagePoller();

  Status status() const EXCLUDES(mutex_);

  // The files of the part that was warmed up last, as the client names them; used from the next
  // poll on. Shared with the caller: a part may have a million paths.
  using Paths = std::shared_ptr<const std::vector<std::string>>;
  void set_part(Paths paths) EXCLUDES(mutex_);
  // A measurement of that part by the caller; reported until the next poll.
  void set_part_usage(const CacheUsage& seen) EXCLUDES(mutex_);
  // Whether that part is being warmed up: growth of the cache then counts as its.
  void set_filling(bool filling) EXCLUDES(mutex_);
  void refresh_soon() EXCLUDES(mutex_);  // polls now: something has changed
  // The same, and takes over the client's own counts before it returns, even during a long poll.
  // For callers that know that the client answers.
  void refresh_counts() EXCLUDES(mutex_);

 private:
  // What the last poll was based on; used by the polling thread only.
  struct Seen {
    double blocks = -1;
    double bytes = -1;
    VolumeTotals quick{};
    std::uint64_t part = 0;
    std::string life{};
    bool operator==(const Seen&) const = default;
  };

  void run(const std::stop_token& end) EXCLUDES(mutex_);
  void on_answer() EXCLUDES(mutex_);
  Result<> poll(bool hurry, const std::stop_token& end) EXCLUDES(mutex_);
  // `held`: the bytes in the client's cache.
  Result<> poll_cache(const std::string& life, std::int64_t held, const std::stop_token& end)
      EXCLUDES(mutex_);
  Result<> poll_files(const VolumeTotals& quick, bool hurry, const std::stop_token& end);
  void apply_counts(const std::string& stats) EXCLUDES(mutex_);

  const Control control_;
  const std::int64_t cache_bytes_;

  mutable Mutex mutex_;
  CondVar wake_;
  Status status_ GUARDED_BY(mutex_){};
  Paths part_ GUARDED_BY(mutex_) = std::make_shared<const std::vector<std::string>>();
  std::uint64_t part_number_ GUARDED_BY(mutex_) = 0;
  std::string life_ GUARDED_BY(mutex_){};  // of the client that answered last (client_life)
  bool hurry_ GUARDED_BY(mutex_) = true;
  bool filling_ GUARDED_BY(mutex_) = false;
  // The size of the cache that the reported numbers belong to; unset: not known.
  std::optional<std::int64_t> shown_at_ GUARDED_BY(mutex_){};
  std::optional<BootTime> answered_
      GUARDED_BY(mutex_){};  // while the client is asked: its last answer

  // Used by the polling thread only.
  VolumeTotals totals_{};
  std::optional<VolumeTotals> counted_{};  // JuiceFS's counts at the last exact count
  BootTime next_count_{};
  Seen seen_{};
  BootTime next_check_{};

  std::jthread thread_;  // last: uses everything above
};

}  // namespace paddle::engine::juicefs
