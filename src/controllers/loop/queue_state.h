// SPDX-License-Identifier: Apache-2.0
//
// The workqueue's mind: which key may be worked on, and when. A value without clock, lock or
// thread; WorkQueue (workqueue.h) is the rim around it.
//
// Promises:
//   - A key is in progress at most once. Added meanwhile, it is given out once more afterwards.
//   - A key waits at most once, however often it was added; of several times the earliest wins.
//     Each pass states its own next wait, so an earlier pass replaces a later appointment.
//   - Keys whose time has come leave in the order in which it came (FIFO).
//   - A key that failed n times in a row waits first_pause * 2^(n-1), at most longest_pause, minus
//     jitter. A change to it meanwhile is answered sooner, but not before eager_pause (nor before a
//     pause that the server asked for): a pass that fails and causes its own changes can not spin.
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
  double jitter = 0.2;  // share of the pause that chance may take away
};

class QueueState {
 public:
  explicit QueueState(QueueLimits limits = {}) : limits_(limits) {}

  // Work on `key` as soon as its turn comes. True unless it already waited for its turn.
  bool add(const ObjectKey& key, BootTime now);
  void add_at(const ObjectKey& key, BootTime due, BootTime now);

  struct Taken {
    ObjectKey key{};
    std::chrono::nanoseconds waited{};  // from its turn's beginning to now
    int failures = 0;                   // in a row, before this pass
  };
  // The next key whose time has come, now in progress; nothing when there is none.
  std::optional<Taken> take(BootTime now);

  // Each taken key is given back with exactly one of these.
  void finished(const ObjectKey& key, BootTime now);
  void again_at(const ObjectKey& key, BootTime due, BootTime now);  // finished, and wants a visit
  // `chance` in [0, 1) feeds the jitter. Returns the pause.
  std::chrono::nanoseconds failed(const ObjectKey& key, BootTime now, double chance,
                                  std::chrono::nanoseconds at_least = {});
  void abandoned(const ObjectKey& key, BootTime now);  // stopped half-way: no verdict, visit again

  std::optional<BootTime> next_due() const;  // when take() may next give a key that it does not now
  size_t depth() const { return ready_.size(); }      // keys whose turn has begun
  size_t delayed() const { return delayed_.size(); }  // keys that wait for a time
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
