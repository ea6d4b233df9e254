// SPDX-License-Identifier: Apache-2.0
//
// What we know about the objects of the server, from two sources: the stream (lists and watch
// events, in the server's order but late) and our own writes (acknowledged by the server, but
// possibly ahead of the stream). The rules, for versions compared as numbers:
//
//   1. `progress` is the version up to which the stream has shown everything: that of the last
//      event, bookmark or finished list. An event at or before it is old and ignored.
//   2. An acknowledged write newer than progress is laid over the stream's state until progress
//      reaches it; one at or before progress is ignored: the stream already shows it or a later
//      state. So an older event never undoes a newer write, a late acknowledgement never brings
//      back a removed object, and a write survives a list that was taken before it.
//   3. An acknowledged deletion has no version of its own. It hides every state up to the version
//      that was deleted, until the stream shows a newer state (finalizers, a new object of the same
//      name) or the end, or until a list of the most recent state that began afterwards is
//      complete; a list from the server's cache may be older than the deletion. An object that is
//      already marked for deletion is not hidden: its end is still to come.
//   4. A list replaces the stream's state: an object that it does not contain is gone. A list older
//      than progress means that the server was restored: then only the list counts. (A list from
//      the server's cache is requested to be not older than progress: reflector_plan.h.)
//   5. An object of the same name with another uid is another object: the old one is reported as
//      gone, then the new one as new.
//
// Versions that are not comparable: events always count, acknowledgements never do. An object that
// could not be decoded has no value: find() does not return it, and is_unreadable() is true.
//
// Pure and not thread-safe. Every mutation returns the changes that it made, in order. An event
// costs what it settles, however many own writes are pending; a list looks at all of them.

#pragma once

#include <charconv>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/core/meta.h"

namespace paddle::kube {

using api::ObjectKey;
using Value = std::shared_ptr<const void>;

// A resourceVersion as a number. Kubernetes guarantees that the versions of one resource grow with
// every change and can be compared; for a text that is not a number only the watch counts.
using Version = std::uint64_t;
inline constexpr Version kNotComparable = 0;

inline Version parse_version(std::string_view text) {
  Version value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc{} && end == text.data() + text.size() ? value : kNotComparable;
}

// One state of one object.
struct ObjectState {
  ObjectKey key{};
  std::string uid{};
  Version version = kNotComparable;
  bool deleting = false;
  Value value{};  // null when it could not be decoded
};

struct Change {
  ObjectKey key{};
  Value before{};  // null: it did not exist
  Value after{};   // null: it is gone
};
using Changes = std::vector<Change>;

class ObservedState {
 public:
  // From the stream.
  Changes observe(ObjectState seen);
  Changes observe_deleted(const ObjectKey& key, Version version);
  Changes advance(Version version);
  // A list in three steps; one that is begun again or never ended has no effect.
  void begin_list();
  // True when exactly this state is known: it counts as listed, and need not be decoded.
  bool list_known(const ObjectKey& key, const std::string& uid, Version version);
  void list_item(ObjectState seen);
  // `most_recent`: the list shows the state at a time after begin_list(); false: perhaps an older
  // one, from the server's cache.
  Changes end_list(Version version, bool most_recent = true);

  // From our own writes.
  Changes acknowledge(ObjectState written);
  // `version`: of the state that was deleted; kNotComparable: the state that is shown.
  Changes acknowledge_deleted(const ObjectKey& key, const std::string& uid, Version version);

  Value find(const ObjectKey& key) const;
  bool is_unreadable(const ObjectKey& key) const;
  size_t size() const { return size_; }             // objects with a value
  size_t pending() const { return owned_.size(); }  // own writes that the stream has not shown yet
  template <typename Visit>
  void each(Visit visit) const {
    for (const auto& [key, slot] : slots_) {
      if (const State* state = visible(slot); state && state->value) visit(key, state->value);
    }
  }

 private:
  struct State {
    std::string uid{};
    Version version = kNotComparable;
    bool deleting = false;
    Value value{};
  };
  struct Own {
    State state{};
    bool deletion = false;
    std::uint64_t list_epoch = 0;  // how many lists had begun when it was acknowledged
  };
  struct Slot {
    std::optional<State> base{};  // what the stream last showed
    std::unique_ptr<Own> own{};   // what we wrote
    std::uint64_t listed = 0;     // the last list that contained it
  };

  static const State* visible(const Slot& slot);
  template <typename Mutate>
  void mutate(const ObjectKey& key, Changes& changes, Mutate mutation);
  // The progress that settles the own write of a slot; unset: only an event of its object, or a
  // list, does.
  static std::optional<Version> awaited_progress(const Slot& slot);
  void settle_after_event(const ObjectKey& key, Changes& changes);
  void settle_reached(Changes& changes);
  void settle_all(Changes& changes, std::uint64_t finished_list);
  void settle(Slot& slot, std::uint64_t finished_list) const;

  std::map<ObjectKey, Slot> slots_{};
  std::set<ObjectKey> owned_{};                                  // slots with an own write
  std::set<std::pair<Version, ObjectKey>> awaiting_progress_{};  // of these, by what they await
  std::vector<ObjectState> staged_{};
  Version progress_ = kNotComparable;
  bool listed_once_ = false;
  std::uint64_t list_epoch_ = 0;
  size_t size_ = 0;
};

}  // namespace paddle::kube
