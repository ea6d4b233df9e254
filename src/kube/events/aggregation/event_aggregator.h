// SPDX-License-Identifier: Apache-2.0
//
// Which events have been recorded for which object, and which are still to be written. Pure and
// bounded; not thread-safe (EventRecorder has the lock).
//
// Occurrences with the same object, type, reason and message within `window` are one event with a
// count. Repeats that arrive while the event waits to be written only increase the count. Each
// object may cause `burst` writes at once and one more every `refill`; more are dropped and
// counted.
//
// Events can be deferred while other requests are more urgent: at most `max_deferral` long, never
// warnings, and not when many wait. Deferred events of one object with one reason are joined to one
// event: "created pods a, b; created configmap c".

#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "api/core/meta.h"
#include "base/clock.h"

namespace paddle::kube {

enum class EventKind { kNormal, kWarning };

// The object that an event is about, as involvedObject names it.
struct ObjectRef {
  std::string api_version{};
  std::string kind{};
  api::ObjectKey key{};
  std::string uid{};
  auto operator<=>(const ObjectRef&) const = default;
};

// Something that happened to an object; equal ones are one event.
struct Occurrence {
  ObjectRef about{};
  EventKind kind = EventKind::kNormal;
  std::string reason{};
  std::string message{};
  auto operator<=>(const Occurrence&) const = default;
};

// One event as it should be stored now.
struct EventWrite {
  std::string name{};
  Occurrence what{};
  WallTime first{};
  WallTime last{};
  int count = 0;
  bool stored = false;  // it exists at the server: only count and last have changed
};

struct EventLimits {
  std::chrono::seconds window{600};
  int burst = 25;
  std::chrono::seconds refill{300};
  size_t remembered = 4096;  // events, and objects, kept in memory
  size_t waiting = 1024;     // events to be written
  std::chrono::seconds max_deferral{30};
};

class EventAggregator {
 public:
  explicit EventAggregator(EventLimits limits = {}) : limits_(limits) {}

  enum class Admission {
    kQueued,    // will be written
    kMerged,    // counted in a waiting event, or joined to it
    kTooOften,  // dropped: the object has used up its tokens
    kFull,      // dropped: too many wait
  };
  // `deferred`: events are being deferred at the moment.
  Admission add(Occurrence occurrence, WallTime wall, BootTime now, bool deferred = false);

  // The next event to write, warnings first, then the oldest. From this call on it counts as
  // stored.
  std::optional<EventWrite> next();
  // Until when the next event may be deferred; nullopt when none waits.
  std::optional<BootTime> due() const;
  // The event could not be written or was deleted: its next occurrence makes a new one.
  void forget(const Occurrence& what);

  size_t waiting() const { return warnings_.size() + queue_.size(); }
  size_t remembered() const { return events_.size() + buckets_.size(); }

 private:
  struct Event {
    EventWrite write{};
    BootTime seen{};
    bool waits = false;
  };
  struct QueueEntry {
    Occurrence what{};
    BootTime since{};
  };
  struct TokenBucket {
    double tokens = 0;
    BootTime filled{};
  };
  bool join(const Occurrence& occurrence, WallTime wall, BootTime now);
  bool take_token(const ObjectRef& about, BootTime now);
  void prune(BootTime now);

  const EventLimits limits_;
  std::map<Occurrence, Event> events_;
  std::map<ObjectRef, TokenBucket> buckets_;
  std::deque<QueueEntry> warnings_;
  std::deque<QueueEntry> queue_;  // the others
};

}  // namespace paddle::kube
