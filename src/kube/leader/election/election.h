// SPDX-License-Identifier: Apache-2.0
//
// Who may lead, decided from values. Pure: time is an argument and always our own boot clock.
//
// Why it is safe. A holder considers itself the leader until (start of its last successful renewal
// + lease - margin). We take over a lease only after its record has been unchanged for the whole
// lease duration since we *received* it. We receive it after the renewal started, so the holder
// stops first, by at least the margin, provided that two clocks do not drift apart by more than the
// margin within one lease. No wall clock is involved.
//
// A record with our own identity is renewed immediately: no other running process has it
// (pod_identity.h), and a dead process can at most have a write on its way.

#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "kube/leader/election/lease.h"

namespace paddle::kube {

struct LeaseTiming {
  std::chrono::milliseconds lease{15'000};  // others wait this long
  std::chrono::milliseconds renew_deadline{
      10'000};                              // we give up this long after a successful renewal
  std::chrono::milliseconds retry{2'000};   // between two reads or renewals
  std::chrono::milliseconds margin{1'000};  // for clock drift, and for a write on its way
};
// Requires retry < renew_deadline <= lease - margin, and a lease of whole seconds (the object has
// no finer unit). Otherwise kInvalid with the reason.
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
  kAcquire,  // it is free, or its holder did not renew it in time
  kRenew,    // it is ours
  kWait,     // another candidate holds it
};
struct LeaseDecision {
  LeaseAction action = LeaseAction::kWait;
  BootTime until{};  // kWait: when it can be acquired if nothing changes
};
LeaseDecision decide(const std::optional<ObservedLease>& seen, const std::string& identity,
                     const LeaseTiming& timing, BootTime now);

// The record to write for a kCreate, kAcquire or kRenew. Transitions count changes of holder.
LeaseRecord claim(const std::optional<LeaseRecord>& before, const std::string& identity,
                  const LeaseTiming& timing, WallTime now);
// The record that allows the next leader to start immediately.
LeaseRecord released(LeaseRecord ours, WallTime now);

// After a renewal that was started then and succeeded: until when we may write, and when we stop
// trying to renew.
BootTime write_until(BootTime renewal_started, const LeaseTiming& timing);
BootTime give_up_at(BootTime renewal_started, const LeaseTiming& timing);

}  // namespace paddle::kube
