// SPDX-License-Identifier: Apache-2.0
#include "source/retry.h"

#include <gtest/gtest.h>

namespace paddle::source {
namespace {

using std::chrono::milliseconds;
const RetryPolicy kPolicy{};

TEST(Retry, DoublesUpToALimitAndThenGivesUp) {
  const Error busy{Code::kUnavailable, "busy"};
  EXPECT_EQ(pause_after(busy, 1, 0.0, kPolicy), milliseconds(100));
  EXPECT_EQ(pause_after(busy, 2, 0.0, kPolicy), milliseconds(200));
  EXPECT_EQ(pause_after(busy, 6, 0.0, kPolicy), milliseconds(2500));
  EXPECT_EQ(pause_after(busy, 7, 0.0, kPolicy), std::nullopt);
  EXPECT_GT(pause_after(busy, 1, 0.9, kPolicy), milliseconds(180));
}

TEST(Retry, HonoursRetryAfterUpToALimit) {
  Error slow{Code::kThrottled, "slow down"};
  slow.retry_after = milliseconds(8000);
  EXPECT_EQ(pause_after(slow, 1, 0.0, kPolicy), milliseconds(8000));
  slow.retry_after = milliseconds(3'600'000);
  EXPECT_EQ(pause_after(slow, 1, 0.0, kPolicy), kPolicy.longest_asked);
}

TEST(Retry, DoesNotRetryPermanentErrors) {
  for (const Code code : {Code::kConflict, Code::kNotFound, Code::kForbidden, Code::kInvalid,
                          Code::kCancelled, Code::kUnauthorized}) {
    EXPECT_EQ(pause_after(Error{code, ""}, 1, 0.5, kPolicy), std::nullopt);
  }
}

}  // namespace
}  // namespace paddle::source
