// SPDX-License-Identifier: Apache-2.0
//
// Waits for a condition instead of for a while. The limit is a guard against hanging, not an
// expectation of speed: keep it generous.
//
//   EXPECT_TRUE(eventually([&] { return informer.size() == 3; }));

#pragma once

#include <chrono>

#include "base/clock.h"

namespace paddle::test {

template <typename Condition>
bool eventually(Condition&& condition, std::chrono::seconds limit = std::chrono::seconds{60},
                std::chrono::milliseconds pause = std::chrono::milliseconds{10}) {
  const BootTime deadline = system_clock().boot() + limit;
  while (!condition()) {
    if (system_clock().boot() > deadline) return false;
    system_clock().sleep(pause, {});
  }
  return true;
}

}  // namespace paddle::test
