// SPDX-License-Identifier: Apache-2.0
//
// How a pass over one key ends, and what follows from it. Pure.
//
// A reconcile function returns Result<ReconcileResult>. Errors that the same input will meet again,
// whatever the world does (kInvalid), are terminal: not repeated until the object changes.
// Everything else may heal by itself (a quota is raised, a secret appears, a token is renewed), so
// it is tried again with back-off.

#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string_view>

#include "api/core/meta.h"
#include "base/result.h"

namespace paddle::controllers {

// Nothing more to do for now; `requeue_after` asks for another pass even if nothing changes.
struct ReconcileResult {
  std::optional<std::chrono::nanoseconds> requeue_after{};
  bool operator==(const ReconcileResult&) const = default;
};

// Level-triggered: looks at the key, whatever has happened, and does what is missing. The token is
// requested when the pass should end early (shutdown, lost leadership): long calls take it along.
// Called by several threads, never twice at once for the same key.
using Reconcile =
    std::function<Result<ReconcileResult>(const api::ObjectKey& key, std::stop_token stop)>;

enum class PassOutcome {
  kDone,      // nothing left to do
  kAgain,     // done; wants a visit at a later time
  kRetry,     // failed; tried again with back-off
  kTerminal,  // failed for good; waits for the object to change
  kStopped,   // given up because we were told to stop, or may not write any more
  kPanicked,  // threw; a defect of ours, tried again with back-off
};
std::string_view name(PassOutcome outcome);

PassOutcome outcome_of(const Result<ReconcileResult>& result);

}  // namespace paddle::controllers
