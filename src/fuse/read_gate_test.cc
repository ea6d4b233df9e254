// SPDX-License-Identifier: Apache-2.0
#include "fuse/read_gate.h"

#include <gtest/gtest.h>

namespace paddle::fuse {
namespace {

TEST(ReadGate, TasksBeyondTheLimitWaitInOrderAndNoneIsLost) {
  ReadGate<int> gate(2);
  EXPECT_TRUE(gate.enter(1));
  EXPECT_TRUE(gate.enter(2));
  EXPECT_FALSE(gate.enter(3));
  EXPECT_FALSE(gate.enter(4));
  EXPECT_EQ(gate.leave(), 3);
  EXPECT_EQ(gate.leave(), 4);
  EXPECT_FALSE(gate.enter(5)) << "3 and 4 hold both places";
  EXPECT_EQ(gate.leave(), 5);
  EXPECT_EQ(gate.leave(), std::nullopt);
  EXPECT_EQ(gate.leave(), std::nullopt);
  EXPECT_TRUE(gate.enter(6));
  EXPECT_EQ(gate.queued(), 0u);
}

}  // namespace
}  // namespace paddle::fuse
