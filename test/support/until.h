// SPDX-License-Identifier: Apache-2.0
//
// Waits for a condition without which the rest of a test makes no sense. A test that waits in vain
// fails at the line that waits, which builtins tell: Debian 12's clang has no std::source_location.
// The limit prevents hanging and is no expectation of speed.
//
//   until([&] { return job.phase() == "Running"; });

#pragma once

#include <chrono>

#include <gtest/gtest.h>

#include "test/support/eventually.h"

namespace paddle::test {

inline constexpr std::chrono::seconds kUntilLimit{180};

template <typename Condition>
void until(const Condition& condition, std::chrono::seconds limit = kUntilLimit,
           const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (eventually(condition, limit, std::chrono::milliseconds{2})) return;
  ADD_FAILURE_AT(file, line) << "The condition that the test waits for did not become true within "
                             << limit.count() << " s.";
}

}  // namespace paddle::test
