// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <gtest/gtest.h>

namespace paddle {
namespace {

TEST(Random, TheSameSeedGivesTheSameSequence) {
  Random a(7), b(7), c(8);
  EXPECT_EQ(a.hex(40), b.hex(40));
  EXPECT_NE(a.hex(40), c.hex(40));
}

TEST(Random, StaysInsideItsBounds) {
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_LT(random.below(3), 3u);
    const double x = random.uniform();
    EXPECT_GE(x, 0.0);
    EXPECT_LT(x, 1.0);
  }
}

}  // namespace
}  // namespace paddle
