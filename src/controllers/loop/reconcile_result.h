// SPDX-License-Identifier: Apache-2.0
//
// The result of one pass over a key, and what the queue does with the key.
//
// A reconcile function returns Result<ReconcileResult>. kInvalid is terminal: the same input would
// fail again, so the key is not retried until the object changes. All other errors may resolve
// without a change of the object (a quota is raised, a Secret appears, a token is renewed), so the
// key is retried with back-off.

#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string_view>

#include "api/core/meta.h"
#include "base/result.h"

namespace paddle::controllers {

// The pass succeeded. `requeue_after` requests another pass even if nothing changes.
struct ReconcileResult {
  std::optional<std::chrono::nanoseconds> requeue_after{};
  bool operator==(const ReconcileResult&) const = default;
};

// Level-triggered: reads the current state of the object and does what is missing. The stop token
// is requested when the pass should end early (shutdown, lost leadership): pass it to long calls.
// Called by several threads, never concurrently for the same key.
using Reconcile =
    std::function<Result<ReconcileResult>(const api::ObjectKey& key, std::stop_token stop)>;

enum class PassOutcome {
  kDone,      // nothing left to do
  kAgain,     // done; wants another pass later
  kRetry,     // failed; retried with back-off
  kTerminal,  // terminal error; waits for the object to change
  kStopped,   // ended early: shutdown, or writes are no longer allowed
  kPanicked,  // an exception, which is a defect; retried with back-off
};
std::string_view name(PassOutcome outcome);

PassOutcome outcome_of(const Result<ReconcileResult>& result);

}  // namespace paddle::controllers
