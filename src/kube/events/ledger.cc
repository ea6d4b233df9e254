// SPDX-License-Identifier: Apache-2.0
#include "kube/events/ledger.h"

#include <algorithm>

#include "kube/events/event_text.h"

namespace paddle::kube {

EventLedger::Verdict EventLedger::note(Happening happening, WallTime wall, BootTime now) {
  happening.message = clean_text(happening.message, kMaxEventMessage);
  happening.reason = clean_text(happening.reason, kMaxEventReason);

  auto at = events_.find(happening);
  if (at != events_.end() && at->second.waits) {
    ++at->second.write.count;
    at->second.write.last = wall;
    at->second.seen = now;
    return Verdict::kMerged;
  }
  if (queue_.size() >= limits_.waiting) return Verdict::kFull;
  if (!spend(happening.about, now)) return Verdict::kTooOften;
  if (at != events_.end() && now - at->second.seen > limits_.window) {
    events_.erase(at);
    at = events_.end();
  }
  if (at == events_.end()) {
    prune(now);
    const auto& about = happening.about;
    const std::string what = about.kind + '\0' + to_string(about.key) + '\0' + about.uid + '\0' +
                             happening.reason + '\0' + happening.message + '\0' +
                             rfc3339_micro(wall);
    EventWrite write{.name = event_name(about.key.name, what), .what = happening, .first = wall};
    at = events_.emplace(happening, Event{.write = std::move(write)}).first;
  }
  Event& event = at->second;
  ++event.write.count;
  event.write.last = wall;
  event.seen = now;
  event.waits = true;
  queue_.push_back(std::move(happening));
  return Verdict::kQueued;
}

std::optional<EventWrite> EventLedger::next() {
  while (!queue_.empty()) {
    const auto at = events_.find(queue_.front());
    queue_.pop_front();
    if (at == events_.end() || !at->second.waits) continue;
    at->second.waits = false;
    const EventWrite write = at->second.write;
    at->second.write.stored = true;
    return write;
  }
  return std::nullopt;
}

void EventLedger::forget(const Happening& what) {
  const auto at = events_.find(what);
  if (at != events_.end() && !at->second.waits) events_.erase(at);
}

bool EventLedger::spend(const ObjectRef& about, BootTime now) {
  const auto [at, fresh] =
      shares_.try_emplace(about, Share{static_cast<double>(limits_.burst), now});
  Share& share = at->second;
  const std::chrono::duration<double> passed = now - share.filled;
  share.tokens = std::min<double>(
      limits_.burst, share.tokens + passed / std::chrono::duration<double>(limits_.refill));
  share.filled = now;
  if (share.tokens < 1) return false;
  share.tokens -= 1;
  if (fresh && shares_.size() > limits_.remembered) {
    // A full share says nothing that a new one would not say; then the one longest untouched goes.
    auto oldest = shares_.end();
    for (auto other = shares_.begin(); other != shares_.end(); ++other) {
      if (other == at) continue;
      if (oldest == shares_.end() || other->second.filled < oldest->second.filled) oldest = other;
    }
    if (oldest != shares_.end()) shares_.erase(oldest);
  }
  return true;
}

void EventLedger::prune(BootTime now) {
  if (events_.size() < limits_.remembered) return;
  std::erase_if(events_, [&](const auto& entry) {
    return !entry.second.waits && now - entry.second.seen > limits_.window;
  });
  while (events_.size() >= limits_.remembered) {
    auto oldest = events_.end();
    for (auto at = events_.begin(); at != events_.end(); ++at) {
      if (at->second.waits) continue;
      if (oldest == events_.end() || at->second.seen < oldest->second.seen) oldest = at;
    }
    if (oldest == events_.end()) return;  // all wait; limits_.waiting bounds those
    events_.erase(oldest);
  }
}

}  // namespace paddle::kube
