// SPDX-License-Identifier: Apache-2.0
//
// Executes whole plans: the actions one after the other, then the status unless its write may wait
// (Plan::status_delay). A write that the API
// server rejects stops no other action; it is retried after a growing delay (rejected_writes.h).
// Thread-safe.

#pragma once

#include <chrono>
#include <optional>

#include "api/sample_set.h"
#include "controllers/sample_set/actions.h"
#include "controllers/sample_set/execute/action_executor.h"
#include "controllers/sample_set/execute/rejected_writes.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_set {

class PlanExecutor {
 public:
  PlanExecutor(ActionExecutor actions, const Clock& clock)
      : actions_(std::move(actions)), clock_(clock) {}

  struct Outcome {
    // What was rejected, in this pass so far. Not empty: the status was not written, because it
    // would show that all is done; plan again with these, and call report().
    Rejections rejections{};
    // An object that was to be created exists and is foreign; nothing after it was executed. Plan
    // again with it.
    std::optional<NameConflict> conflict{};
    // The first error of an action that no other depends on; the actions after it were executed.
    std::optional<Error> failure{};
  };
  // An error: of an action that others depend on, or of the status.
  Result<Outcome> execute(const Plan& plan, api::SampleSet& set, const World& world,
                          const kube::Call& call);

  // Writes the status of `next`, which was planned with the rejections of `executed`, and emits the
  // events that `executed` does not have.
  Result<> report(const Plan& next, const Plan& executed, api::SampleSet& set, const World& world,
                  const kube::Call& call);

  // Until a rejected write is retried; absent: there is none.
  std::optional<std::chrono::nanoseconds> next_retry(const api::Meta& set) const {
    return rejected_.next(set, clock_.boot());
  }
  void forget(const api::ObjectKey& set) { rejected_.forget(set); }

 private:
  ActionExecutor actions_;
  const Clock& clock_;
  RejectedWrites rejected_{};
};

}  // namespace paddle::controllers::sample_set
