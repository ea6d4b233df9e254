// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/execute/rejected_writes.h"

#include <algorithm>
#include <iterator>

#include <nlohmann/json.hpp>

#include "controllers/loop/rejection.h"

namespace paddle::controllers::sample_set {
namespace {

Action without_version(Action action) {
  if (auto* patch = std::get_if<PatchObject>(&action)) patch->resource_version.clear();
  if (auto* clear = std::get_if<SetClaimUid>(&action)) clear->resource_version.clear();
  return action;
}

}  // namespace

bool is_write(const Action& action) {
  return !std::holds_alternative<PutJob>(action) && !std::holds_alternative<CancelJob>(action) &&
         !std::holds_alternative<EmitEvent>(action);
}

const RejectedWrites::OfOneSet* RejectedWrites::find(const api::Meta& set) const {
  const auto named = sets_.find(set.key);
  if (named == sets_.end()) return nullptr;
  const auto found = named->second.find(set.uid);
  return found == named->second.end() ? nullptr : &found->second;
}

std::optional<std::string> RejectedWrites::waits(const api::Meta& set, const Action& action,
                                                 BootTime now) const {
  if (!is_write(action)) return std::nullopt;
  Lock lock(mutex_);
  const OfOneSet* all = find(set);
  if (!all) return std::nullopt;
  const auto known = std::ranges::find(*all, without_version(action), &Rejected::action);
  if (known == all->end() || now >= known->due) return std::nullopt;
  return known->error;
}

void RejectedWrites::add(const api::Meta& set, const Action& action, const std::string& error,
                         BootTime now) {
  const Action write = without_version(action);
  Lock lock(mutex_);
  OfOneSet& all = sets_[set.key][set.uid];
  auto known = std::ranges::find(all, write, &Rejected::action);
  if (known == all.end()) {
    all.push_back({.action = write});
    known = std::prev(all.end());
  }
  known->error = error;
  known->due = now + rejection_backoff(++known->times);
}

void RejectedWrites::keep_only(const api::Meta& set, const std::vector<Action>& rejected) {
  std::vector<Action> writes;
  for (const Action& action : rejected) writes.push_back(without_version(action));
  Lock lock(mutex_);
  const auto named = sets_.find(set.key);
  if (named == sets_.end()) return;
  OfOneSet& all = named->second[set.uid];
  std::erase_if(all, [&](const Rejected& each) {
    return std::ranges::find(writes, each.action) == writes.end();
  });
  if (all.empty()) named->second.erase(set.uid);
  if (named->second.empty()) sets_.erase(named);
}

std::optional<std::chrono::nanoseconds> RejectedWrites::next(const api::Meta& set,
                                                             BootTime now) const {
  Lock lock(mutex_);
  const OfOneSet* all = find(set);
  if (!all || all->empty()) return std::nullopt;
  const BootTime due = std::ranges::min(*all, {}, &Rejected::due).due;
  return std::max(std::chrono::nanoseconds(due - now), std::chrono::nanoseconds(0));
}

void RejectedWrites::forget(const api::ObjectKey& set) {
  Lock lock(mutex_);
  sets_.erase(set);
}

}  // namespace paddle::controllers::sample_set
