// SPDX-License-Identifier: Apache-2.0
#include "test/support/until.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

namespace paddle::test {
namespace {

TEST(Until, WaitsForTheCondition) {
  int asked = 0;
  until([&] { return ++asked == 3; });
  EXPECT_EQ(asked, 3);
}

TEST(Until, ATestThatWaitsInVainFails) {
  EXPECT_NONFATAL_FAILURE(until([] { return false; }, std::chrono::seconds{0}),
                          "did not become true");
}

}  // namespace
}  // namespace paddle::test
