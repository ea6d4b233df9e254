// SPDX-License-Identifier: Apache-2.0
#include "controllers/loop/rejection.h"

#include <algorithm>

#include "base/log.h"

namespace paddle::controllers {

using std::chrono::nanoseconds;
using std::chrono::seconds;

bool is_rejection(const Error& error) {
  return error.code == Code::kForbidden || error.code == Code::kInvalid ||
         error.code == Code::kInternal;
}

nanoseconds rejection_backoff(int times) {
  constexpr int kDoublings = 6;  // 64 s
  const int doublings = std::clamp(times - 1, 0, kDoublings);
  return std::min<nanoseconds>(seconds(1 << doublings), kRejectionRetry);
}

Result<ReconcileResult> requeue_rejected(Result<ReconcileResult> outcome, const std::string& object,
                                         const std::optional<nanoseconds>& wanted) {
  if (!outcome.is(Code::kInvalid)) return outcome;
  log::warn("rejected by the server; retrying later",
            {{"object", object}, {"error", outcome.error().message}});
  return ReconcileResult{std::min<nanoseconds>(wanted.value_or(kRejectionRetry), kRejectionRetry)};
}

}  // namespace paddle::controllers
