// SPDX-License-Identifier: Apache-2.0
#include "controllers/loop/refusal.h"

#include <algorithm>

#include "base/log.h"

namespace paddle::controllers {

using std::chrono::nanoseconds;
using std::chrono::seconds;

bool is_refusal(const Error& error) {
  return error.code == Code::kForbidden || error.code == Code::kInvalid ||
         error.code == Code::kInternal;
}

nanoseconds pause_after_refusal(int times) {
  constexpr int kDoublings = 6;  // 64 s
  const int doublings = std::clamp(times - 1, 0, kDoublings);
  return std::min<nanoseconds>(seconds(1 << doublings), kRefusedByARule);
}

Result<Outcome> ride_out(Result<Outcome> outcome, const std::string& object,
                         const std::optional<nanoseconds>& wanted) {
  if (!outcome.is(Code::kInvalid)) return outcome;
  log::warn("refused by the server; trying again in a while",
            {{"object", object}, {"error", outcome.error().message}});
  return Outcome{std::min<nanoseconds>(wanted.value_or(kRefusedByARule), kRefusedByARule)};
}

}  // namespace paddle::controllers
