// SPDX-License-Identifier: Apache-2.0
#include "kube/informer/state/observed_state.h"

#include <algorithm>
#include <utility>

namespace paddle::kube {

const ObservedState::State* ObservedState::visible(const Slot& slot) {
  const State* base = slot.base ? &*slot.base : nullptr;
  if (!slot.own) return base;
  if (!slot.own->deletion) return &slot.own->state;
  return base && base->version > slot.own->state.version ? base : nullptr;
}

// Every change of a slot is made here, so that every change is reported.
template <typename Mutate>
void ObservedState::mutate(const ObjectKey& key, Changes& changes, Mutate mutation) {
  const auto at = slots_.try_emplace(key).first;
  Slot& slot = at->second;
  const auto readable = [&]() -> std::optional<State> {
    const State* state = visible(slot);
    return state && state->value ? std::optional<State>(*state) : std::nullopt;
  };
  const auto before = readable();
  const auto awaited_before = awaited_progress(slot);
  mutation(slot);
  const auto after = readable();
  slot.own ? (void)owned_.insert(key) : (void)owned_.erase(key);
  if (const auto awaited = awaited_progress(slot); awaited != awaited_before) {
    if (awaited_before) awaiting_progress_.erase({*awaited_before, key});
    if (awaited) awaiting_progress_.emplace(*awaited, key);
  }
  if (!slot.base && !slot.own) slots_.erase(at);

  if (!before && !after) return;
  size_ = size_ + (after ? 1 : 0) - (before ? 1 : 0);
  if (before && after) {
    const bool same_object = before->uid == after->uid;
    const bool same_state = before->version == after->version && before->version != kNotComparable;
    if (same_object && same_state) return;
    if (before->value == after->value) return;
    if (!same_object) {
      changes.push_back({key, before->value, nullptr});
      changes.push_back({key, nullptr, after->value});
      return;
    }
  }
  changes.push_back({key, before ? before->value : nullptr, after ? after->value : nullptr});
}

std::optional<Version> ObservedState::awaited_progress(const Slot& slot) {
  if (!slot.own || (slot.own->deletion && slot.base)) return std::nullopt;
  return slot.own->state.version;
}

Changes ObservedState::observe(ObjectState seen) {
  if (seen.version != kNotComparable && seen.version <= progress_) return {};
  Changes changes;
  mutate(seen.key, changes, [&](Slot& slot) {
    slot.base = State{std::move(seen.uid), seen.version, seen.deleting, std::move(seen.value)};
  });
  progress_ = std::max(progress_, seen.version);
  settle_after_event(seen.key, changes);
  return changes;
}

Changes ObservedState::observe_deleted(const ObjectKey& key, Version version) {
  if (version != kNotComparable && version <= progress_) return {};
  Changes changes;
  mutate(key, changes, [](Slot& slot) { slot.base.reset(); });
  progress_ = std::max(progress_, version);
  settle_after_event(key, changes);
  return changes;
}

Changes ObservedState::advance(Version version) {
  Changes changes;
  if (version <= progress_) return changes;
  progress_ = version;
  settle_reached(changes);
  return changes;
}

void ObservedState::begin_list() {
  ++list_epoch_;
  staged_.clear();
}

bool ObservedState::list_known(const ObjectKey& key, const std::string& uid, Version version) {
  const auto found = slots_.find(key);
  if (found == slots_.end() || !found->second.base || version == kNotComparable) return false;
  const State& base = *found->second.base;
  if (base.uid != uid || base.version != version) return false;
  found->second.listed = list_epoch_;
  return true;
}

void ObservedState::list_item(ObjectState seen) { staged_.push_back(std::move(seen)); }

Changes ObservedState::end_list(Version version, bool most_recent) {
  Changes changes;
  const bool restored = listed_once_ && version < progress_;
  progress_ = version;
  listed_once_ = true;
  for (auto& seen : std::exchange(staged_, {})) {
    mutate(seen.key, changes, [&](Slot& slot) {
      slot.base = State{std::move(seen.uid), seen.version, seen.deleting, std::move(seen.value)};
      slot.listed = list_epoch_;
    });
  }
  std::vector<ObjectKey> missing;
  for (const auto& [key, slot] : slots_) {
    if (slot.base && slot.listed != list_epoch_) missing.push_back(key);
  }
  for (const auto& key : missing) {
    mutate(key, changes, [](Slot& slot) { slot.base.reset(); });
  }
  if (restored) {
    for (const auto& key : std::set<ObjectKey>(owned_)) {
      mutate(key, changes, [](Slot& slot) { slot.own.reset(); });
    }
  }
  settle_all(changes, most_recent ? list_epoch_ : 0);
  return changes;
}

void ObservedState::settle_after_event(const ObjectKey& key, Changes& changes) {
  if (owned_.contains(key)) mutate(key, changes, [&](Slot& slot) { settle(slot, 0); });
  settle_reached(changes);
}

void ObservedState::settle_reached(Changes& changes) {
  while (!awaiting_progress_.empty() && awaiting_progress_.begin()->first <= progress_) {
    const ObjectKey key = awaiting_progress_.begin()->second;
    mutate(key, changes, [&](Slot& slot) { settle(slot, 0); });
  }
}

void ObservedState::settle_all(Changes& changes, std::uint64_t finished_list) {
  for (const auto& key : std::set<ObjectKey>(owned_)) {
    mutate(key, changes, [&](Slot& slot) { settle(slot, finished_list); });
  }
}

// Drops an own write that the stream has caught up with.
void ObservedState::settle(Slot& slot, std::uint64_t finished_list) const {
  const Own& own = *slot.own;
  if (!own.deletion) {
    if (own.state.version > progress_) return;
    const bool same = slot.base && slot.base->version == own.state.version;
    if (same) slot.base->value = own.state.value;  // one value, whichever way it came
    slot.own.reset();
    return;
  }
  const bool superseded = slot.base && slot.base->version > own.state.version;
  const bool confirmed = !slot.base && progress_ >= own.state.version;
  const bool listed_since = own.list_epoch < finished_list;
  if (superseded || confirmed || listed_since) slot.own.reset();
}

Changes ObservedState::acknowledge(ObjectState written) {
  const bool comparable =
      written.version != kNotComparable && (!listed_once_ || progress_ != kNotComparable);
  if (!comparable || written.version <= progress_ || !written.value) return {};
  Changes changes;
  mutate(written.key, changes, [&](Slot& slot) {
    if (slot.own && slot.own->state.version >= written.version) return;
    slot.own = std::make_unique<Own>(Own{.state = {std::move(written.uid), written.version,
                                                   written.deleting, std::move(written.value)},
                                         .list_epoch = list_epoch_});
  });
  return changes;
}

Changes ObservedState::acknowledge_deleted(const ObjectKey& key, const std::string& uid,
                                           Version version) {
  if (listed_once_ && progress_ == kNotComparable) return {};
  const auto found = slots_.find(key);
  const State* shown = found == slots_.end() ? nullptr : visible(found->second);
  if (shown && shown->uid == uid) {
    if (shown->deleting) return {};
    version = std::max(version, shown->version);
  } else if (shown && shown->version > version) {
    return {};  // a later object of the same name
  }
  if (version == kNotComparable || (!shown && version <= progress_)) return {};
  Changes changes;
  mutate(key, changes, [&](Slot& slot) {
    if (slot.own && slot.own->deletion && slot.own->state.version >= version) return;
    slot.own = std::make_unique<Own>(Own{
        .state = {.uid = uid, .version = version}, .deletion = true, .list_epoch = list_epoch_});
  });
  return changes;
}

Value ObservedState::find(const ObjectKey& key) const {
  const auto found = slots_.find(key);
  if (found == slots_.end()) return nullptr;
  const State* state = visible(found->second);
  return state ? state->value : nullptr;
}

bool ObservedState::is_unreadable(const ObjectKey& key) const {
  const auto found = slots_.find(key);
  if (found == slots_.end()) return false;
  const State* state = visible(found->second);
  return state && !state->value;
}

}  // namespace paddle::kube
