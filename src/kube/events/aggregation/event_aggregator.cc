// SPDX-License-Identifier: Apache-2.0
#include "kube/events/aggregation/event_aggregator.h"

#include <algorithm>
#include <vector>

#include "kube/events/aggregation/event_text.h"

namespace paddle::kube {
namespace {

// Drops the oldest of what may be dropped, a quarter of `limit` at once: one pass over a full map
// pays for many additions.
template <typename Map, typename TimeOf, typename MayDrop>
void drop_oldest(Map& map, size_t limit, TimeOf time_of, MayDrop may_drop) {
  std::vector<BootTime> times;
  for (const auto& [key, value] : map) {
    if (may_drop(value)) times.push_back(time_of(value));
  }
  if (times.empty()) return;
  const auto last =
      times.begin() + static_cast<std::ptrdiff_t>(std::min(limit / 4, times.size() - 1));
  std::ranges::nth_element(times, last);
  size_t left = static_cast<size_t>(last - times.begin()) + 1;
  std::erase_if(map, [&, newest = *last](const auto& entry) {
    if (left == 0 || !may_drop(entry.second) || time_of(entry.second) > newest) return false;
    --left;
    return true;
  });
}

}  // namespace

EventAggregator::Admission EventAggregator::add(Occurrence occurrence, WallTime wall, BootTime now,
                                                bool deferred) {
  occurrence.message = clean_text(occurrence.message, kMaxEventMessage);
  occurrence.reason = clean_text(occurrence.reason, kMaxEventReason);

  auto at = events_.find(occurrence);
  if (at != events_.end() && at->second.waits) {
    ++at->second.write.count;
    at->second.write.last = wall;
    at->second.seen = now;
    return Admission::kMerged;
  }
  if (deferred && at == events_.end() && join(occurrence, wall, now)) return Admission::kMerged;
  if (waiting() >= limits_.waiting) return Admission::kFull;
  if (!take_token(occurrence.about, now)) return Admission::kTooOften;
  if (at != events_.end() && now - at->second.seen > limits_.window) {
    events_.erase(at);
    at = events_.end();
  }
  if (at == events_.end()) {
    prune(now);
    const auto& about = occurrence.about;
    const std::string what = about.kind + '\0' + to_string(about.key) + '\0' + about.uid + '\0' +
                             occurrence.reason + '\0' + occurrence.message + '\0' +
                             rfc3339_micro(wall);
    EventWrite write{.name = event_name(about.key.name, what), .what = occurrence, .first = wall};
    at = events_.emplace(occurrence, Event{.write = std::move(write)}).first;
  }
  Event& event = at->second;
  ++event.write.count;
  event.write.last = wall;
  event.seen = now;
  event.waits = true;
  auto& entries = occurrence.kind == EventKind::kWarning ? warnings_ : queue_;
  entries.push_back({std::move(occurrence), now});
  return Admission::kQueued;
}

std::optional<EventWrite> EventAggregator::next() {
  while (waiting() > 0) {
    auto& entries = warnings_.empty() ? queue_ : warnings_;
    const auto at = events_.find(entries.front().what);
    entries.pop_front();
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
  return queue_.front().since + limits_.max_deferral;
}

// Joins it to a waiting event of the same object and reason that is not stored yet.
bool EventAggregator::join(const Occurrence& occurrence, WallTime wall, BootTime now) {
  if (occurrence.kind == EventKind::kWarning) return false;
  const auto alike = [&](const Occurrence& other) {
    return other.about == occurrence.about && other.kind == occurrence.kind &&
           other.reason == occurrence.reason;
  };
  Occurrence prefix = occurrence;
  prefix.message.clear();
  auto at = events_.lower_bound(prefix);
  for (; at != events_.end() && alike(at->first); ++at) {
    const Event& event = at->second;
    const size_t size = at->first.message.size() + 2 + occurrence.message.size();
    if (event.waits && event.write.count == 1 && size <= kMaxEventMessage) break;
  }
  if (at == events_.end() || !alike(at->first)) return false;
  const auto entry = std::ranges::find(queue_, at->first, &QueueEntry::what);
  if (entry == queue_.end()) return false;
  Occurrence both = at->first;
  both.message += "; " + occurrence.message;
  if (events_.contains(both)) return false;  // there is an event with the same text already
  auto node = events_.extract(at);
  node.key() = entry->what = both;
  Event& joined = node.mapped();
  joined.write.what = std::move(both);
  joined.write.last = wall;
  joined.seen = now;
  events_.insert(std::move(node));
  return true;
}

void EventAggregator::forget(const Occurrence& what) {
  const auto at = events_.find(what);
  if (at != events_.end() && !at->second.waits) events_.erase(at);
}

bool EventAggregator::take_token(const ObjectRef& about, BootTime now) {
  const auto [at, fresh] =
      buckets_.try_emplace(about, TokenBucket{static_cast<double>(limits_.burst), now});
  TokenBucket& bucket = at->second;
  const std::chrono::duration<double> passed = now - bucket.filled;
  bucket.tokens = std::min<double>(
      limits_.burst, bucket.tokens + passed / std::chrono::duration<double>(limits_.refill));
  bucket.filled = now;
  if (bucket.tokens < 1) return false;
  bucket.tokens -= 1;
  if (fresh && buckets_.size() > limits_.remembered) {
    // A bucket that was unused for a long time is full again, like a new one.
    drop_oldest(
        buckets_, limits_.remembered, [](const TokenBucket& each) { return each.filled; },
        [&](const TokenBucket& each) { return &each != &bucket; });
  }
  return true;
}

void EventAggregator::prune(BootTime now) {
  if (events_.size() < limits_.remembered) return;
  std::erase_if(events_, [&](const auto& entry) {
    return !entry.second.waits && now - entry.second.seen > limits_.window;
  });
  if (events_.size() < limits_.remembered) return;
  // Those that wait stay; limits_.waiting bounds them.
  drop_oldest(
      events_, limits_.remembered, [](const Event& each) { return each.seen; },
      [](const Event& each) { return !each.waits; });
}

}  // namespace paddle::kube
