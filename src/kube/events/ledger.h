// SPDX-License-Identifier: Apache-2.0
//
// What has been told about which object, and what is still to be written. Pure and bounded; not
// thread-safe (EventRecorder holds the lock).
//
// The same object, type, reason and message within `window` is one event with a count. Repeats that
// come while the event waits to be written cost nothing but the count. Each object may cause
// `burst` writes at once and one more every `refill`; what exceeds this is dropped and said so.

#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "api/meta.h"
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

struct Happening {
  ObjectRef about{};
  EventKind kind = EventKind::kNormal;
  std::string reason{};
  std::string message{};
  auto operator<=>(const Happening&) const = default;
};

// One event as it should be stored now.
struct EventWrite {
  std::string name{};
  Happening what{};
  WallTime first{};
  WallTime last{};
  int count = 0;
  bool stored = false;  // exists already: only count and last have changed
};

struct EventLimits {
  std::chrono::seconds window{600};
  int burst = 25;
  std::chrono::seconds refill{300};
  size_t remembered = 4096;  // events, and objects, kept in memory
  size_t waiting = 1024;     // events to be written
};

class EventLedger {
 public:
  explicit EventLedger(EventLimits limits = {}) : limits_(limits) {}

  enum class Verdict {
    kQueued,    // will be written
    kMerged,    // counted in one that already waits
    kTooOften,  // dropped: the object has used up its share
    kFull,      // dropped: too many wait
  };
  Verdict note(Happening happening, WallTime wall, BootTime now);

  // The next event to write, oldest first; it counts as stored from here on.
  std::optional<EventWrite> next();
  // The event could not be written or is gone: the next occurrence makes a new one.
  void forget(const Happening& what);

  size_t waiting() const { return queue_.size(); }
  size_t remembered() const { return events_.size() + shares_.size(); }

 private:
  struct Event {
    EventWrite write{};
    BootTime seen{};
    bool waits = false;
  };
  struct Share {
    double tokens = 0;
    BootTime filled{};
  };
  bool spend(const ObjectRef& about, BootTime now);
  void prune(BootTime now);

  const EventLimits limits_;
  std::map<Happening, Event> events_;
  std::map<ObjectRef, Share> shares_;
  std::deque<Happening> queue_;
};

}  // namespace paddle::kube
