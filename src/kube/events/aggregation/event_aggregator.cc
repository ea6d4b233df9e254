// SPDX-License-Identifier: Apache-2.0
#include "kube/events/aggregation/event_aggregator.h"

#include <algorithm>

#include "kube/events/aggregation/event_text.h"

namespace paddle::kube {

EventAggregator::Verdict EventAggregator::note(Happening happening, WallTime wall, BootTime now,
                                               bool held) {
  happening.message = clean_text(happening.message, kMaxEventMessage);
  happening.reason = clean_text(happening.reason, kMaxEventReason);

  auto at = events_.find(happening);
  if (at != events_.end() && at->second.waits) {
    ++at->second.write.count;
    at->second.write.last = wall;
    at->second.seen = now;
    return Verdict::kMerged;
  }
  if (held && at == events_.end() && join(happening, wall, now)) return Verdict::kMerged;
  if (waiting() >= limits_.waiting) return Verdict::kFull;
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
  auto& places = happening.kind == EventKind::kWarning ? warnings_ : queue_;
  places.push_back({std::move(happening), now});
  return Verdict::kQueued;
}

std::optional<EventWrite> EventAggregator::next() {
  while (waiting() > 0) {
    auto& places = warnings_.empty() ? queue_ : warnings_;
    const auto at = events_.find(places.front().what);
    places.pop_front();
    if (at == events_.end() || !at->second.waits) continue;
    at->second.waits = false;
    const EventWrite write = at->second.write;
    at->second.write.stored = true;
    return write;
  }
  return std::nullopt;
}

std::optional<BootTime> EventAggregator::due() const {
  if (waiting() == 0) return std::nullopt;
  if (!warnings_.empty() || waiting() > limits_.waiting / 2) return BootTime::min();
  return queue_.front().since + limits_.held;
}

// To one of the same object and reason that nobody has seen yet.
bool EventAggregator::join(const Happening& happening, WallTime wall, BootTime now) {
  if (happening.kind == EventKind::kWarning) return false;
  const auto alike = [&](const Happening& other) {
    return other.about == happening.about && other.kind == happening.kind &&
           other.reason == happening.reason;
  };
  Happening prefix = happening;
  prefix.message.clear();
  auto at = events_.lower_bound(prefix);
  for (; at != events_.end() && alike(at->first); ++at) {
    const Event& event = at->second;
    const size_t size = at->first.message.size() + 2 + happening.message.size();
    if (event.waits && event.write.count == 1 && size <= kMaxEventMessage) break;
  }
  if (at == events_.end() || !alike(at->first)) return false;
  const auto place = std::ranges::find(queue_, at->first, &Place::what);
  if (place == queue_.end()) return false;
  Happening both = at->first;
  both.message += "; " + happening.message;
  if (events_.contains(both)) return false;  // said before, in these very words
  auto node = events_.extract(at);
  node.key() = place->what = both;
  Event& joined = node.mapped();
  joined.write.what = std::move(both);
  joined.write.last = wall;
  joined.seen = now;
  events_.insert(std::move(node));
  return true;
}

void EventAggregator::forget(const Happening& what) {
  const auto at = events_.find(what);
  if (at != events_.end() && !at->second.waits) events_.erase(at);
}

bool EventAggregator::spend(const ObjectRef& about, BootTime now) {
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

void EventAggregator::prune(BootTime now) {
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
