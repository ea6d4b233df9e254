// SPDX-License-Identifier: Apache-2.0
//
// The state machine of the workqueue: which key may be processed, and when. A value without clock,
// lock or thread; WorkQueue (workqueue.h) adds these.
//
// Guarantees:
//   - A key is in progress at most once. If it is added meanwhile, it is handed out again later.
//   - A key waits at most once, no matter how often it was added; the earliest time wins. Each pass
//     sets its own next time, which replaces a later one.
//   - Ready keys are handed out in the order in which they became ready (FIFO).
//   - A key that failed n times in a row waits first_pause * 2^(n-1), at most longest_pause, minus
//     jitter. A change of its object shortens the wait, but not below eager_pause (nor below a
//     pause that the server requested): a pass that fails and causes its own changes cannot spin.
//   - Memory: one entry per distinct key that waits, runs or has failures; nothing else.

#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "api/core/meta.h"
#include "base/clock.h"

namespace paddle::controllers {

using api::ObjectKey;

struct QueueLimits {
  std::chrono::nanoseconds first_pause{std::chrono::milliseconds{5}};
  std::chrono::nanoseconds longest_pause{std::chrono::minutes{5}};
  std::chrono::nanoseconds eager_pause{std::chrono::seconds{1}};
  double jitter = 0.2;  // the part of the pause that may be cut at random
};

class QueueState {
 public:
  explicit QueueState(QueueLimits limits = {}) : limits_(limits) {}

  // Makes `key` ready. True unless it was ready already.
  bool add(const ObjectKey& key, BootTime now);
  void add_at(const ObjectKey& key, BootTime due, BootTime now);

  struct Taken {
    ObjectKey key{};
    std::chrono::nanoseconds waited{};  // since it became ready
    int failures = 0;                   // in a row, before this pass
  };
  // Returns the next ready key, which is then in progress; nothing when there is none.
  std::optional<Taken> take(BootTime now);

  // Return each taken key with exactly one of these.
  void finished(const ObjectKey& key, BootTime now);
  void again_at(const ObjectKey& key, BootTime due, BootTime now);  // done; next pass at `due`
  // `chance` in [0, 1) feeds the jitter. Returns the pause.
  std::chrono::nanoseconds failed(const ObjectKey& key, BootTime now, double chance,
                                  std::chrono::nanoseconds at_least = {});
  void abandoned(const ObjectKey& key, BootTime now);  // stopped early: next pass at once

  std::optional<BootTime> next_due() const;           // when the next delayed key becomes ready
  size_t depth() const { return ready_.size(); }      // ready keys
  size_t delayed() const { return delayed_.size(); }  // keys that are due later
  size_t running() const { return running_.size(); }
  size_t entries() const { return entries_.size(); }
  std::chrono::nanoseconds longest_running(BootTime now) const;

 private:
  struct Entry {
    bool ready = false;
    bool running = false;
    bool changed = false;  // added while in progress
    std::optional<BootTime> due{};
    BootTime ready_since{};
    BootTime not_before{};  // meaningful while failures > 0
    int failures = 0;
  };
  using Entries = std::map<ObjectKey, Entry>;

  void make_ready(Entries::iterator at, BootTime now);
  void make_delayed(Entries::iterator at, BootTime due);
  void drop_delay(Entries::iterator at);
  void promote(BootTime now);
  Entries::iterator give_back(const ObjectKey& key);
  void settle(Entries::iterator at, BootTime now);

  const QueueLimits limits_;
  Entries entries_;
  std::deque<ObjectKey> ready_;
  std::set<std::pair<BootTime, ObjectKey>> delayed_;
  std::map<ObjectKey, BootTime> running_;  // with the start of the pass
};

// The pause after the n-th failure in a row (n >= 1). Pure; never above longest_pause.
std::chrono::nanoseconds back_off(const QueueLimits& limits, int failures, double chance);

}  // namespace paddle::controllers
