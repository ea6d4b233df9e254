// SPDX-License-Identifier: Apache-2.0
#include "controllers/runtime_poller/request_state.h"

#include <algorithm>

namespace paddle::controllers {

RequestState::Key RequestState::key_of(const api::ObjectKey& owner, const RuntimeRequest& request) {
  return {owner, request.uid, request.call.id, !request.call.request};
}

std::optional<Result<>> RequestState::outcome(const api::ObjectKey& owner,
                                              const RuntimeRequest& request, BootTime now) {
  expire(now);
  const auto found = outcomes_.find(key_of(owner, request));
  if (found == outcomes_.end()) return std::nullopt;
  if (found->first.cancels && found->second.result) return Result<>(Done{});
  return take(owner, request, now);
}

std::optional<Result<>> RequestState::take(const api::ObjectKey& owner,
                                           const RuntimeRequest& request, BootTime now) {
  expire(now);
  auto found = outcomes_.extract(key_of(owner, request));
  if (!found) return std::nullopt;
  return std::move(found.mapped().result);
}

bool RequestState::is_in_progress(const api::ObjectKey& owner,
                                  const RuntimeRequest& request) const {
  const Key key = key_of(owner, request);
  return std::ranges::any_of(current_, [&](const auto& each) { return each.second == key; });
}

std::optional<std::uint64_t> RequestState::begin(const api::ObjectKey& owner,
                                                 const RuntimeRequest& request, BootTime now) {
  expire(now);
  if (const auto busy = busy_.find(request.uid); busy != busy_.end()) {
    busy->second.insert(owner);
    return std::nullopt;
  }
  const auto of_namespace = of_namespace_.find(owner.ns);
  if (current_.size() >= kMostRequestsAtOnce ||
      (of_namespace != of_namespace_.end() && of_namespace->second >= kMostRequestsOfANamespace)) {
    waits_for_room_.insert(owner);
    return std::nullopt;
  }
  ++of_namespace_[owner.ns];
  busy_.try_emplace(request.uid);
  Key key = key_of(owner, request);
  Key opposite = key;
  opposite.cancels = !key.cancels;
  outcomes_.erase(opposite);  // it says nothing about the job any more
  current_.emplace(++numbers_, std::move(key));
  return numbers_;
}

void RequestState::wait(const api::ObjectKey& owner, const std::string& uid) {
  if (const auto busy = busy_.find(uid); busy != busy_.end()) busy->second.insert(owner);
}

std::vector<api::ObjectKey> RequestState::finished(std::uint64_t number, Result<> result,
                                                   BootTime now) {
  const auto ended = current_.find(number);
  if (ended == current_.end()) return {};
  const Key key = std::move(ended->second);
  current_.erase(ended);
  const auto of_namespace = of_namespace_.find(key.owner.ns);
  if (--of_namespace->second == 0) of_namespace_.erase(of_namespace);
  std::set<api::ObjectKey> wake = std::move(busy_.extract(key.uid).mapped());
  wake.merge(waits_for_room_);
  waits_for_room_.clear();
  outcomes_.insert_or_assign(key, Outcome{std::move(result), now});
  ended_.emplace_back(now, key);
  return {wake.begin(), wake.end()};
}

void RequestState::forget(const api::ObjectKey& owner) {
  std::erase_if(outcomes_, [&](const auto& each) { return each.first.owner == owner; });
  waits_for_room_.erase(owner);
  for (auto& [uid, waiting] : busy_) waiting.erase(owner);
}

void RequestState::expire(BootTime now) {
  while (!ended_.empty() && now - ended_.front().first >= kOutcomeExpiry) {
    const auto found = outcomes_.find(ended_.front().second);
    if (found != outcomes_.end() && found->second.at == ended_.front().first) {
      outcomes_.erase(found);
    }
    ended_.pop_front();
  }
}

}  // namespace paddle::controllers
