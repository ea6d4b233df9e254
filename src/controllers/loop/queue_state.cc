// SPDX-License-Identifier: Apache-2.0
#include "controllers/loop/queue_state.h"

#include <algorithm>

#include "base/backoff.h"

namespace paddle::controllers {

using std::chrono::nanoseconds;

nanoseconds back_off(const QueueLimits& limits, int failures, double chance) {
  const nanoseconds grown = backoff(limits.first_pause, failures, limits.longest_pause);
  const double share = 1.0 - limits.jitter * std::clamp(chance, 0.0, 1.0);
  return nanoseconds{static_cast<nanoseconds::rep>(static_cast<double>(grown.count()) * share)};
}

bool QueueState::add(const ObjectKey& key, BootTime now) {
  auto at = entries_.try_emplace(key).first;
  Entry& entry = at->second;
  if (entry.running) return !std::exchange(entry.changed, true);
  if (entry.ready) return false;
  if (entry.failures > 0 && entry.not_before > now) {
    make_delayed(at, entry.not_before);
  } else {
    make_ready(at, now);
  }
  return true;
}

void QueueState::add_at(const ObjectKey& key, BootTime due, BootTime now) {
  if (due <= now) {
    add(key, now);
    return;
  }
  auto at = entries_.try_emplace(key).first;
  if (at->second.ready) return;  // it is ready, which is earlier
  if (at->second.failures > 0) due = std::max(due, at->second.not_before);
  make_delayed(at, due);
}

std::optional<QueueState::Taken> QueueState::take(BootTime now) {
  promote(now);
  if (ready_.empty()) return std::nullopt;
  Taken taken{.key = std::move(ready_.front())};
  ready_.pop_front();
  Entry& entry = entries_.at(taken.key);
  entry.ready = false;
  entry.running = true;
  entry.changed = false;
  running_.emplace(taken.key, now);
  taken.waited = now - entry.ready_since;
  taken.failures = entry.failures;
  return taken;
}

void QueueState::finished(const ObjectKey& key, BootTime now) {
  auto at = give_back(key);
  if (at == entries_.end()) return;
  at->second.failures = 0;
  settle(at, now);
}

void QueueState::again_at(const ObjectKey& key, BootTime due, BootTime now) {
  auto at = give_back(key);
  if (at == entries_.end()) return;
  at->second.failures = 0;
  if (due <= now) at->second.changed = true;
  if (!at->second.changed) make_delayed(at, due);
  settle(at, now);
}

nanoseconds QueueState::failed(const ObjectKey& key, BootTime now, double chance,
                               nanoseconds at_least) {
  auto at = give_back(key);
  if (at == entries_.end()) return {};
  Entry& entry = at->second;
  ++entry.failures;
  const nanoseconds pause = std::max(back_off(limits_, entry.failures, chance), at_least);
  entry.not_before = now + std::max(std::min(pause, limits_.eager_pause), at_least);
  BootTime due = std::exchange(entry.changed, false) ? entry.not_before : now + pause;
  if (entry.due) due = std::min(due, std::max(*entry.due, entry.not_before));
  drop_delay(at);
  make_delayed(at, due);
  return pause;
}

void QueueState::abandoned(const ObjectKey& key, BootTime now) {
  auto at = give_back(key);
  if (at == entries_.end()) return;
  at->second.changed = true;
  settle(at, now);
}

std::optional<BootTime> QueueState::next_due() const {
  // A key in progress can be due as well; it is then marked as changed and queued again after its
  // pass.
  if (delayed_.empty()) return std::nullopt;
  return delayed_.begin()->first;
}

nanoseconds QueueState::longest_running(BootTime now) const {
  nanoseconds longest{0};
  for (const auto& [key, since] : running_) longest = std::max(longest, now - since);
  return longest;
}

void QueueState::make_ready(Entries::iterator at, BootTime now) {
  drop_delay(at);
  at->second.ready = true;
  at->second.ready_since = now;
  ready_.push_back(at->first);
}

void QueueState::make_delayed(Entries::iterator at, BootTime due) {
  if (at->second.due && *at->second.due <= due) return;
  drop_delay(at);
  at->second.due = due;
  delayed_.emplace(due, at->first);
}

void QueueState::drop_delay(Entries::iterator at) {
  if (!at->second.due) return;
  delayed_.erase({*at->second.due, at->first});
  at->second.due.reset();
}

void QueueState::promote(BootTime now) {
  while (!delayed_.empty() && delayed_.begin()->first <= now) {
    auto at = entries_.find(delayed_.begin()->second);
    const BootTime due = delayed_.begin()->first;
    drop_delay(at);
    if (at->second.running) {
      at->second.changed = true;
    } else {
      make_ready(at, due);
    }
  }
}

QueueState::Entries::iterator QueueState::give_back(const ObjectKey& key) {
  if (running_.erase(key) == 0) return entries_.end();
  auto at = entries_.find(key);
  at->second.running = false;
  return at;
}

void QueueState::settle(Entries::iterator at, BootTime now) {
  if (std::exchange(at->second.changed, false)) {
    make_ready(at, now);
  } else if (!at->second.due && at->second.failures == 0) {
    entries_.erase(at);
  }
}

}  // namespace paddle::controllers
