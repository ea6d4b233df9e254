// SPDX-License-Identifier: Apache-2.0
//
// Waits for a condition, not for a time. The limit prevents hanging and is no expectation of speed:
// keep it generous.
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
