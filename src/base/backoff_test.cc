// SPDX-License-Identifier: Apache-2.0
#include "base/backoff.h"

#include <limits>

#include <gtest/gtest.h>

namespace paddle {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, DoublesFromTheFirstPauseToTheLongest) {
  EXPECT_EQ(backoff(5s, 1, 320s), 5s);
  EXPECT_EQ(backoff(5s, 2, 320s), 10s);
  EXPECT_EQ(backoff(5s, 3, 320s), 20s);
  EXPECT_EQ(backoff(5s, 7, 320s), 320s);
  EXPECT_EQ(backoff(5s, 8, 320s), 320s);
}

TEST(Backoff, IsNeverLongerThanTheLongestPause) {
  EXPECT_EQ(backoff(1s, 7, 60s), 60s) << "64 s would be next";
  EXPECT_EQ(backoff(5s, 1, 3s), 3s);
}

TEST(Backoff, BeforeTheFirstFailureItIsTheFirstPause) {
  EXPECT_EQ(backoff(5s, 0, 320s), 5s);
  EXPECT_EQ(backoff(5s, -1, 320s), 5s);
}

TEST(Backoff, DoesNotOverflow) {
  constexpr int kMany = std::numeric_limits<int>::max();
  EXPECT_EQ(backoff(1s, kMany, std::chrono::nanoseconds::max()), std::chrono::nanoseconds::max());
  EXPECT_EQ(backoff(0s, kMany, 60s), 0s);
}

}  // namespace
}  // namespace paddle
