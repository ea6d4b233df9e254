// SPDX-License-Identifier: Apache-2.0
#include "controllers/runtime_poller/poll_state.h"

#include <algorithm>

namespace paddle::controllers {
namespace {

using std::chrono::nanoseconds;

const runtime::JobReport* find_report(const runtime::PollReport& report, const std::string& id) {
  if (!report.jobs) return nullptr;
  const auto found = std::ranges::find(*report.jobs, id, &runtime::JobReport::id);
  return found == report.jobs->end() ? nullptr : &*found;
}

// What decisions are based on, beside the jobs; the rest is counted all the time.
bool status_changed(const runtime::StatusReport& before, const runtime::StatusReport& after) {
  return before.engine != after.engine || before.index != after.index ||
         before.synced_by != after.synced_by || before.last_warm_up != after.last_warm_up ||
         before.cache.life != after.cache.life || before.remark != after.remark ||
         before.source_error != after.source_error || before.error != after.error;
}

bool job_changed(const runtime::JobReport* before, const runtime::JobReport* after) {
  if (!before || !after) return before != after;
  return before->state != after->state || before->error != after->error ||
         before->cleared_since != after->cleared_since ||
         before->progress.cut != after->progress.cut;
}

bool answer_changed(const std::set<std::string>& jobs, const runtime::PollReport& before,
                    const runtime::PollReport& after) {
  if (status_changed(before.status, after.status)) return true;
  return std::ranges::any_of(jobs, [&](const std::string& id) {
    return job_changed(find_report(before, id), find_report(after, id));
  });
}

}  // namespace

const runtime::JobReport* find_job(const RuntimeAnswer& answer, const std::string& id) {
  return find_report(answer.report, id);
}

bool PollState::is_answered(const Runtime& runtime, const Wanted& wanted) {
  if (runtime.answered == 0 || runtime.answered <= runtime.outdated) return false;
  return runtime.asked.contains(runtime::kAllJobs) ||
         std::ranges::includes(runtime.asked, wanted.jobs);
}

bool PollState::needs_poll(const Runtime& runtime) const {
  return std::ranges::any_of(runtime.owners,
                             [&](const auto& each) { return !is_answered(runtime, each.second); });
}

void PollState::schedule(const std::string& uid, Runtime& runtime, std::optional<BootTime> due) {
  if (runtime.due) due_.erase({*runtime.due, uid});
  runtime.due = due;
  if (due) due_.emplace(*due, uid);
}

void PollState::watch(const api::ObjectKey& owner, const std::vector<PolledRuntime>& runtimes,
                      nanoseconds interval, BootTime now) {
  owners_[owner] = now;
  std::set<std::string> uids;
  for (const PolledRuntime& each : runtimes) {
    uids.insert(each.uid);
    Runtime& runtime = runtimes_[each.uid];
    const bool moved =
        runtime.address != each.call.address || !(runtime.access == each.call.access);
    runtime.address = each.call.address;
    runtime.access = each.call.access;
    runtime.owners[owner] = {{each.call.jobs.begin(), each.call.jobs.end()}, interval};
    if (moved) runtime.outdated = runtime.count;
    if (runtime.polling != 0) continue;  // finished() sees what is wanted by then
    const bool failed = runtime.error && runtime.answered > runtime.outdated;
    if (moved || runtime.answered == 0 || (!failed && needs_poll(runtime))) {
      schedule(each.uid, runtime, std::min(now, runtime.due.value_or(now)));
    } else if (runtime.due && *runtime.due > now + interval) {
      schedule(each.uid, runtime, now + interval);
    }
  }
  drop_owner(owner, uids);
  if (uids.empty()) {
    owners_.erase(owner);
    of_owner_.erase(owner);
  } else {
    of_owner_[owner] = std::move(uids);
  }
}

void PollState::forget(const api::ObjectKey& owner) {
  drop_owner(owner, {});
  owners_.erase(owner);
  of_owner_.erase(owner);
}

void PollState::drop_owner(const api::ObjectKey& owner, const std::set<std::string>& except) {
  const auto had = of_owner_.find(owner);
  if (had == of_owner_.end()) return;
  for (const std::string& uid : had->second) {
    const auto found = runtimes_.find(uid);
    if (except.contains(uid) || found == runtimes_.end()) continue;
    found->second.owners.erase(owner);
    if (!found->second.owners.empty()) continue;
    schedule(uid, found->second, std::nullopt);
    runtimes_.erase(found);
  }
}

void PollState::expire_owners(BootTime now) {
  std::vector<api::ObjectKey> expired;
  for (const auto& [owner, last] : owners_) {
    if (now - last >= engine::kPollOwnerExpiry) expired.push_back(owner);
  }
  for (const api::ObjectKey& owner : expired) forget(owner);
}

void PollState::refresh(const std::string& uid) {
  const auto found = runtimes_.find(uid);
  if (found == runtimes_.end()) return;
  Runtime& runtime = found->second;
  runtime.outdated = runtime.count;
  if (runtime.polling == 0) schedule(uid, runtime, BootTime{});
}

std::optional<RuntimeAnswer> PollState::find(const api::ObjectKey& owner, const std::string& uid,
                                             BootTime now) const {
  const auto found = runtimes_.find(uid);
  if (found == runtimes_.end()) return std::nullopt;
  const Runtime& runtime = found->second;
  const auto wanted = runtime.owners.find(owner);
  if (wanted == runtime.owners.end()) return std::nullopt;
  if (runtime.error) {
    return RuntimeAnswer{.error = runtime.error, .unreachable_for = now - runtime.reachable};
  }
  if (!is_answered(runtime, wanted->second)) return std::nullopt;
  return RuntimeAnswer{.report = runtime.report};
}

std::vector<PollState::Poll> PollState::take_due(BootTime now) {
  expire_owners(now);
  std::vector<Poll> polls;
  while (!due_.empty() && due_.begin()->first <= now && in_progress_ < kMostPollsAtOnce) {
    const std::string uid = due_.begin()->second;
    Runtime& runtime = runtimes_.at(uid);
    schedule(uid, runtime, std::nullopt);
    runtime.asking.clear();
    for (const auto& [owner, wanted] : runtime.owners) {
      runtime.asking.insert(wanted.jobs.begin(), wanted.jobs.end());
    }
    runtime.polling = ++numbers_;
    runtime.count = numbers_;
    if (runtime.answered == 0) runtime.reachable = now;
    ++in_progress_;
    polls.push_back(
        {uid,
         runtime.polling,
         {runtime.address, runtime.access, {runtime.asking.begin(), runtime.asking.end()}}});
  }
  return polls;
}

std::vector<api::ObjectKey> PollState::finished(const Poll& poll,
                                                Result<runtime::PollReport> result, BootTime now) {
  --in_progress_;
  const auto found = runtimes_.find(poll.uid);
  if (found == runtimes_.end() || found->second.polling != poll.number) return {};
  Runtime& runtime = found->second;
  const Runtime before = runtime;
  runtime.polling = 0;
  runtime.answered = poll.number;
  runtime.asked = std::move(runtime.asking);
  runtime.asking.clear();
  runtime.error.reset();
  if (result) {
    runtime.report = *std::move(result);
    runtime.reachable = now;
  } else {
    runtime.error = std::move(result).error();
  }

  std::vector<api::ObjectKey> wake;
  const bool flipped =
      before.answered == 0 || before.error.has_value() != runtime.error.has_value();
  nanoseconds interval = nanoseconds::max();
  for (const auto& [owner, wanted] : runtime.owners) {
    interval = std::min(interval, wanted.interval);
    const bool waited = !before.error && !is_answered(before, wanted);
    const bool answers = runtime.error || is_answered(runtime, wanted);
    const bool changed = !runtime.error && !before.error &&
                         answer_changed(wanted.jobs, before.report, runtime.report);
    if (answers && (flipped || waited || changed)) wake.push_back(owner);
  }
  if (runtime.error) interval = std::min<nanoseconds>(interval, engine::kPollRetryInterval);
  const bool at_once = !runtime.error && needs_poll(runtime);
  schedule(poll.uid, runtime, at_once ? now : now + interval);
  return wake;
}

std::optional<BootTime> PollState::next_due() const {
  if (due_.empty() || in_progress_ >= kMostPollsAtOnce) return std::nullopt;
  return due_.begin()->first;
}

}  // namespace paddle::controllers
