// SPDX-License-Identifier: Apache-2.0
#include "kube/leader/election/election.h"

#include <algorithm>

namespace paddle::kube {

using std::chrono::milliseconds;
using std::chrono::seconds;

Result<> check(const LeaseTiming& timing) {
  const auto bad = [](const char* why) {
    return Error{Code::kInvalid, std::string("lease timing: ") + why};
  };
  if (timing.lease < seconds{1} || timing.lease % seconds{1} != milliseconds{0}) {
    return bad("the lease must last a whole number of seconds");
  }
  if (timing.retry <= milliseconds{0}) return bad("the retry period must be positive");
  if (timing.margin < milliseconds{0}) return bad("the margin must not be negative");
  if (timing.renew_deadline <= timing.retry) {
    return bad("the renew deadline must be longer than the retry period");
  }
  if (timing.renew_deadline > timing.lease - timing.margin) {
    return bad("the renew deadline must end before the lease does, by the margin");
  }
  return Done{};
}

ObservedLease observe_lease(const std::optional<ObservedLease>& before, const LeaseRecord& record,
                            BootTime now) {
  if (before && before->record == record) return *before;
  return {record, now};
}

LeaseDecision decide(const std::optional<ObservedLease>& seen, const std::string& identity,
                     const LeaseTiming& timing, BootTime now) {
  if (!seen) return {LeaseAction::kCreate, now};
  if (seen->record.holder == identity) return {LeaseAction::kRenew, now};
  if (seen->record.holder.empty()) return {LeaseAction::kAcquire, now};
  // The duration of the holder counts; a shorter one of ours must not end its lease early.
  const auto lasts = std::max<milliseconds>(seen->record.duration, timing.lease);
  const BootTime until = seen->since + lasts;
  return {now >= until ? LeaseAction::kAcquire : LeaseAction::kWait, until};
}

LeaseRecord claim(const std::optional<LeaseRecord>& before, const std::string& identity,
                  const LeaseTiming& timing, WallTime now) {
  LeaseRecord record = before.value_or(LeaseRecord{});
  record.renew_time = rfc3339_micro(now);
  record.duration = std::chrono::ceil<seconds>(timing.lease);
  if (record.holder == identity) return record;
  record.holder = identity;
  record.acquire_time = record.renew_time;
  if (before) ++record.transitions;
  return record;
}

LeaseRecord released(LeaseRecord ours, WallTime now) {
  ours.holder.clear();
  ours.renew_time = rfc3339_micro(now);
  ours.duration = seconds{1};
  return ours;
}

BootTime write_until(BootTime renewal_started, const LeaseTiming& timing) {
  return renewal_started + timing.lease - timing.margin;
}

BootTime give_up_at(BootTime renewal_started, const LeaseTiming& timing) {
  return renewal_started + timing.renew_deadline;
}

}  // namespace paddle::kube
