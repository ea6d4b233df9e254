// SPDX-License-Identifier: Apache-2.0
//
// Who may lead, decided from values. Pure: time is an argument and always our own boot clock.
//
// Why it is safe. A holder trusts itself until (start of its last good renewal + lease - margin).
// We take a lease over only after its record stayed unchanged for the whole lease duration since we
// *received* it. Receiving comes after the renewal's start, so the holder's trust ends first, by at
// least the margin, provided that two clocks do not drift apart by more than the margin within one
// lease. No wall clock takes part.
//
// A record with our own name is renewed at once: nobody else alive has it (pod_identity.h), and
// what a dead one has sent before can at most be a write that was on its way.

#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "kube/leader/election/lease.h"

namespace paddle::kube {

struct LeaseTiming {
  std::chrono::milliseconds lease{15'000};           // others wait this long
  std::chrono::milliseconds renew_deadline{10'000};  // we give up this long after a good renewal
  std::chrono::milliseconds retry{2'000};            // between two looks or renewals
  std::chrono::milliseconds margin{1'000};           // drift of clocks, and a write on its way
};
// retry < renew_deadline <= lease - margin, and a lease of whole seconds (the object can not say
// less). kInvalid with one sentence otherwise.
Result<> check(const LeaseTiming& timing);

// A record, and when on our clock we first received it in this form.
struct ObservedLease {
  LeaseRecord record{};
  BootTime since{};
};
ObservedLease observe_lease(const std::optional<ObservedLease>& before, const LeaseRecord& record,
                            BootTime now);

enum class LeaseAction {
  kCreate,   // there is no lease
  kAcquire,  // it is free, or its holder did not renew in time
  kRenew,    // it is ours
  kWait,     // another one holds it
};
struct LeaseDecision {
  LeaseAction action = LeaseAction::kWait;
  BootTime until{};  // kWait: when it could be taken if nothing changes
};
LeaseDecision decide(const std::optional<ObservedLease>& seen, const std::string& identity,
                     const LeaseTiming& timing, BootTime now);

// The record to write for a kCreate, kAcquire or kRenew. Transitions count changes of holder.
LeaseRecord claim(const std::optional<LeaseRecord>& before, const std::string& identity,
                  const LeaseTiming& timing, WallTime now);
// The record that lets the next one start at once.
LeaseRecord released(LeaseRecord ours, WallTime now);

// From the start of a good renewal: until when we may write, and when we stop trying to renew.
BootTime write_until(BootTime renewal_started, const LeaseTiming& timing);
BootTime give_up_at(BootTime renewal_started, const LeaseTiming& timing);

}  // namespace paddle::kube
