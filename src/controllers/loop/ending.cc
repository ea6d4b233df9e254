// SPDX-License-Identifier: Apache-2.0
#include "controllers/loop/ending.h"

namespace paddle::controllers {

std::string_view name(Ending ending) {
  switch (ending) {
    case Ending::kDone:
      return "done";
    case Ending::kAgain:
      return "again";
    case Ending::kRetry:
      return "retry";
    case Ending::kTerminal:
      return "terminal";
    case Ending::kStopped:
      return "stopped";
    case Ending::kPanicked:
      return "panicked";
  }
  return "unknown";
}

Ending ending_of(const Result<Outcome>& result) {
  if (result) return result->again_after ? Ending::kAgain : Ending::kDone;
  if (result.is(Code::kCancelled)) return Ending::kStopped;
  if (result.is(Code::kInvalid)) return Ending::kTerminal;
  return Ending::kRetry;
}

}  // namespace paddle::controllers
