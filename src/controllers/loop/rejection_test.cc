// SPDX-License-Identifier: Apache-2.0
#include "controllers/loop/rejection.h"

#include <gtest/gtest.h>

namespace paddle::controllers {
namespace {

using namespace std::chrono_literals;

TEST(Rejection, CoversErrorsThatRepeatUntilAUserActs) {
  for (const Code code : {Code::kForbidden, Code::kInvalid, Code::kInternal}) {
    EXPECT_TRUE(is_rejection({code, ""})) << name(code);
  }
  for (const Code code : {Code::kConflict, Code::kNotFound, Code::kUnavailable, Code::kDeadline,
                          Code::kThrottled, Code::kCancelled}) {
    EXPECT_FALSE(is_rejection({code, ""})) << name(code);
  }
}

TEST(Rejection, IsRetriedWithGrowingPausesAndAtLeastOnceAMinute) {
  EXPECT_EQ(rejection_backoff(1), 1s);
  EXPECT_EQ(rejection_backoff(2), 2s);
  EXPECT_EQ(rejection_backoff(6), 32s);
  EXPECT_EQ(rejection_backoff(7), 60s);
  EXPECT_EQ(rejection_backoff(1'000'000), 60s);
}

TEST(Rejection, RequeuesAnInvalidPassWithinAMinute) {
  const Error invalid{Code::kInvalid, "no"};
  EXPECT_EQ(requeue_rejected(invalid, "a/b")->requeue_after, 60s);
  EXPECT_EQ(requeue_rejected(invalid, "a/b", 5s)->requeue_after, 5s);
  EXPECT_EQ(requeue_rejected(invalid, "a/b", 24h)->requeue_after, 60s);
  EXPECT_TRUE(requeue_rejected(Error{Code::kForbidden, "no"}, "a/b").is(Code::kForbidden));
  EXPECT_EQ(*requeue_rejected(ReconcileResult{3s}, "a/b"), ReconcileResult{3s});
}

}  // namespace
}  // namespace paddle::controllers
