// SPDX-License-Identifier: Apache-2.0
//
// Writes that the API server rejects: by validation, admission, a quota, or missing permissions.
// The server's message is shown to users. Its rules can change without an event, so a rejected
// write is retried: with growing pauses, at least once a minute.

#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/result.h"
#include "controllers/loop/reconcile_result.h"

namespace paddle::controllers {

// True for errors that repeat until a user acts; other errors are transient. Internal errors of the
// server count as rejections: for example, it cannot call a webhook.
bool is_rejection(const Error& error);

inline constexpr std::chrono::seconds kRejectionRetry{60};

// The pause after `times` rejections in a row: 1 s, 2 s, ... 60 s.
std::chrono::nanoseconds rejection_backoff(int times);

// Turns a pass that ended with kInvalid into one that is repeated within kRejectionRetry, or after
// `wanted` if that is sooner. Every other outcome is returned unchanged. `object` is for the log.
Result<ReconcileResult> requeue_rejected(
    Result<ReconcileResult> outcome, const std::string& object,
    const std::optional<std::chrono::nanoseconds>& wanted = {});

}  // namespace paddle::controllers
