// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/execute/rejected_writes.h"

#include <algorithm>
#include <iterator>

#include <nlohmann/json.hpp>

#include "controllers/loop/rejection.h"

namespace paddle::controllers::sample_set {
namespace {

// Whatever version of its object it is for.
Action as_asked(Action action) {
  if (auto* patch = std::get_if<PatchObject>(&action)) patch->resource_version.clear();
  if (auto* free = std::get_if<ClearClaimUid>(&action)) free->resource_version.clear();
  return action;
}

}  // namespace

bool is_write(const Action& action) {
  return !std::holds_alternative<PutJob>(action) && !std::holds_alternative<CancelJob>(action) &&
         !std::holds_alternative<SetStatus>(action) && !std::holds_alternative<Tell>(action);
}

const RejectedWrites::OfOne* RejectedWrites::find(const api::Meta& set) const {
  const auto named = sets_.find(set.key);
  if (named == sets_.end()) return nullptr;
  const auto found = named->second.find(set.uid);
  return found == named->second.end() ? nullptr : &found->second;
}

std::optional<std::string> RejectedWrites::waits(const api::Meta& set, const Action& action,
                                                 BootTime now) const {
  if (!is_write(action)) return std::nullopt;
  Lock lock(mutex_);
  const OfOne* all = find(set);
  if (!all) return std::nullopt;
  const auto known = std::ranges::find(*all, as_asked(action), &Refused::action);
  if (known == all->end() || now >= known->due) return std::nullopt;
  return known->words;
}

void RejectedWrites::add(const api::Meta& set, const Action& action, const std::string& words,
                         BootTime now) {
  const Action asked = as_asked(action);
  Lock lock(mutex_);
  OfOne& all = sets_[set.key][set.uid];
  auto known = std::ranges::find(all, asked, &Refused::action);
  if (known == all.end()) {
    all.push_back({.action = asked});
    known = std::prev(all.end());
  }
  known->words = words;
  known->due = now + rejection_backoff(++known->times);
}

void RejectedWrites::keep_only(const api::Meta& set, const std::vector<Action>& refused) {
  std::vector<Action> asked;
  for (const Action& action : refused) asked.push_back(as_asked(action));
  Lock lock(mutex_);
  const auto named = sets_.find(set.key);
  if (named == sets_.end()) return;
  OfOne& all = named->second[set.uid];
  std::erase_if(all, [&](const Refused& each) {
    return std::ranges::find(asked, each.action) == asked.end();
  });
  if (all.empty()) named->second.erase(set.uid);
  if (named->second.empty()) sets_.erase(named);
}

std::optional<std::chrono::nanoseconds> RejectedWrites::next(const api::Meta& set,
                                                             BootTime now) const {
  Lock lock(mutex_);
  const OfOne* all = find(set);
  if (!all || all->empty()) return std::nullopt;
  const BootTime due = std::ranges::min(*all, {}, &Refused::due).due;
  return std::max(std::chrono::nanoseconds(due - now), std::chrono::nanoseconds(0));
}

void RejectedWrites::forget(const api::ObjectKey& set) {
  Lock lock(mutex_);
  sets_.erase(set);
}

}  // namespace paddle::controllers::sample_set
