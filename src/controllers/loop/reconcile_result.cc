// SPDX-License-Identifier: Apache-2.0
#include "controllers/loop/reconcile_result.h"

namespace paddle::controllers {

std::string_view name(PassOutcome outcome) {
  switch (outcome) {
    case PassOutcome::kDone:
      return "done";
    case PassOutcome::kAgain:
      return "again";
    case PassOutcome::kRetry:
      return "retry";
    case PassOutcome::kTerminal:
      return "terminal";
    case PassOutcome::kStopped:
      return "stopped";
    case PassOutcome::kPanicked:
      return "panicked";
  }
  return "unknown";
}

PassOutcome outcome_of(const Result<ReconcileResult>& result) {
  if (result) return result->requeue_after ? PassOutcome::kAgain : PassOutcome::kDone;
  if (result.is(Code::kCancelled)) return PassOutcome::kStopped;
  if (result.is(Code::kInvalid)) return PassOutcome::kTerminal;
  return PassOutcome::kRetry;
}

}  // namespace paddle::controllers
