// SPDX-License-Identifier: Apache-2.0
//
// What there is and what is cached of it, looked at in the background: status() returns what was
// seen last. It looks every few seconds, and at once when a job has changed something.
//
// Files and bytes of the set come from JuiceFS's own counts; they are counted out only when those
// have changed. What is cached is asked of the client block by block, so only when its cache has
// changed. Neither takes more than a tenth of the time, unless a job has changed something; in
// between, a large set's figures follow JuiceFS's counts and the size of the client's cache. A
// client that hangs holds up the looking and nobody else; status() says so. Thread-safe.

#pragma once

#include <chrono>
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
  UsagePoller(const std::string& mount, std::vector<std::string> disks);
  ~UsagePoller();

  Status status() const EXCLUDES(mutex_);

  // The files of the part that was warmed up last, as the client names them; looked at the next
  // time.
  void set_part(std::vector<std::string> paths) EXCLUDES(mutex_);
  // What somebody has just seen of that part; shown until it is looked at.
  void set_part_usage(const CacheUsage& seen) EXCLUDES(mutex_);
  // Whether that part is being brought in: whatever the cache grows by is of it.
  void set_filling(bool filling) EXCLUDES(mutex_);
  void refresh_soon() EXCLUDES(mutex_);  // something has changed
  // The same, for who knows that the client answers: its own counts are taken over before this
  // returns, however long a look takes that is under way.
  void refresh_counts() EXCLUDES(mutex_);

 private:
  // What the last look rested on; only the looking thread has it.
  struct Seen {
    double blocks = -1;
    double bytes = -1;
    VolumeTotals quick{};
    std::uint64_t part = 0;
    std::string life{};
    bool operator==(const Seen&) const = default;
  };

  void run(const std::stop_token& end) EXCLUDES(mutex_);
  void on_answer() EXCLUDES(mutex_);  // the client has answered
  Result<> poll(bool hurry, const std::stop_token& end) EXCLUDES(mutex_);
  Result<> poll_cache(const std::string& life, const std::stop_token& end) EXCLUDES(mutex_);
  Result<> poll_files(const VolumeTotals& quick, bool hurry, const std::stop_token& end);
  void apply_counts(const std::string& stats) EXCLUDES(mutex_);

  const Control control_;
  const std::vector<std::string> disks_;

  mutable Mutex mutex_;
  CondVar wake_;
  Status status_ GUARDED_BY(mutex_){};
  std::vector<std::string> part_ GUARDED_BY(mutex_){};
  std::uint64_t part_number_ GUARDED_BY(mutex_) = 0;
  std::string life_ GUARDED_BY(mutex_){};  // of the client that answered last
  bool hurry_ GUARDED_BY(mutex_) = true;
  bool filling_ GUARDED_BY(mutex_) = false;
  // What is shown is of the moment when the cache held so much; unset: of no moment that is known.
  std::optional<std::int64_t> shown_at_ GUARDED_BY(mutex_){};
  std::optional<BootTime> answered_
      GUARDED_BY(mutex_){};  // while the client is asked: its last answer

  // Of the looking thread alone.
  VolumeTotals totals_{};
  std::optional<VolumeTotals> counted_{};  // JuiceFS's counts when the files were counted out
  BootTime next_count_{};
  Seen seen_{};
  BootTime next_check_{};

  std::jthread thread_;  // last: uses everything above
};

}  // namespace paddle::engine::juicefs
