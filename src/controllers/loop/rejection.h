// SPDX-License-Identifier: Apache-2.0
//
// Writes that an API server refuses: by validation, admission, a quota, or rights that are missing.
// Users have to know its words. Rules change without a word to us, so it is tried again: after
// pauses that grow, and at least once a minute.

#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/result.h"
#include "controllers/loop/reconcile_result.h"

namespace paddle::controllers {

// It will be refused again until somebody does something; other errors heal by themselves. An
// internal error of the server is one: it cannot call a webhook, say.
bool is_rejection(const Error& error);

inline constexpr std::chrono::seconds kRejectionRetry{60};

// How long to wait when something has been refused `times` times in a row: 1 s, 2 s, ... 60 s.
std::chrono::nanoseconds rejection_backoff(int times);

// How a pass ends that could not go on because of a rule (kInvalid): `object` is looked at again
// within a minute, sooner when it wants to be. Every other outcome is left as it is.
Result<ReconcileResult> requeue_rejected(
    Result<ReconcileResult> outcome, const std::string& object,
    const std::optional<std::chrono::nanoseconds>& wanted = {});

}  // namespace paddle::controllers
