// SPDX-License-Identifier: Apache-2.0
#include "kube/wire/retry.h"

#include <gtest/gtest.h>

namespace paddle::kube {
namespace {

using namespace std::chrono_literals;

TEST(Retry, AWriteIsRepeatedOnlyWhenTheServerDidNotProcessIt) {
  EXPECT_EQ(pause_before_retry({.status = 429, .left = 30s}), 1s);
  EXPECT_EQ(pause_before_retry({.status = 429, .retry_after = 5s, .left = 30s}), 5s);
  EXPECT_EQ(pause_before_retry({.status = 503, .retry_after = 5s, .left = 30s}), 5s);
  EXPECT_EQ(pause_before_retry({.status = 503, .left = 30s}), std::nullopt);
  EXPECT_EQ(pause_before_retry({.status = 500, .retry_after = 5s, .left = 30s}), std::nullopt);
  EXPECT_EQ(pause_before_retry({.status = 504, .retry_after = 5s, .left = 30s}), std::nullopt);
}

TEST(Retry, AReadIsRepeatedWheneverTheServerRequestsIt) {
  EXPECT_EQ(pause_before_retry({.status = 500, .retry_after = 2s, .read_only = true, .left = 30s}),
            2s);
  EXPECT_EQ(pause_before_retry({.status = 500, .read_only = true, .left = 30s}), std::nullopt);
  EXPECT_EQ(pause_before_retry({.status = 409, .retry_after = 2s, .read_only = true, .left = 30s}),
            std::nullopt);
}

TEST(Retry, IsBoundedByDeadlineAndAttempts) {
  EXPECT_EQ(pause_before_retry({.status = 429, .retry_after = 5s, .left = 5s}), std::nullopt);
  EXPECT_EQ(pause_before_retry({.attempt = kMaxAttempts, .status = 429, .left = 1h}), std::nullopt);
}

TEST(Retry, JitterOnlyLengthensThePause) {
  EXPECT_EQ(pause_before_retry({.status = 429, .retry_after = 4s, .left = 30s, .random = 0.5}),
            4500ms);
  EXPECT_EQ(pause_before_retry({.status = 429, .retry_after = 0s, .left = 30s}), 100ms);
}

TEST(ThrottleGate, DelaysOneResourceUntilItsTime) {
  ManualClock clock;
  Random random(1);
  ThrottleGate gate(clock, random);
  gate.close("pods", 4s);
  gate.close("pods", 1s);  // a shorter one does not open it
  EXPECT_GE(gate.wait_for("pods"), 4s);
  EXPECT_LE(gate.wait_for("pods"), 5s);
  EXPECT_EQ(gate.wait_for("leases"), 0s);
  clock.advance(4s);
  EXPECT_EQ(gate.wait_for("pods"), 0s);
}

}  // namespace
}  // namespace paddle::kube
