// SPDX-License-Identifier: Apache-2.0
#include "controllers/loop/refusal.h"

#include <gtest/gtest.h>

namespace paddle::controllers {
namespace {

using namespace std::chrono_literals;

TEST(Refusal, IsWhatHealsOnlyWhenSomebodyDoesSomething) {
  for (const Code code : {Code::kForbidden, Code::kInvalid, Code::kInternal}) {
    EXPECT_TRUE(is_refusal({code, ""})) << name(code);
  }
  for (const Code code : {Code::kConflict, Code::kNotFound, Code::kUnavailable, Code::kDeadline,
                          Code::kThrottled, Code::kCancelled}) {
    EXPECT_FALSE(is_refusal({code, ""})) << name(code);
  }
}

TEST(Refusal, IsTriedAgainMoreAndMoreSlowlyAndAtLeastOnceAMinute) {
  EXPECT_EQ(pause_after_refusal(1), 1s);
  EXPECT_EQ(pause_after_refusal(2), 2s);
  EXPECT_EQ(pause_after_refusal(6), 32s);
  EXPECT_EQ(pause_after_refusal(7), 60s);
  EXPECT_EQ(pause_after_refusal(1'000'000), 60s);
}

TEST(Refusal, ByARuleEndsAPassForAMinuteAtMost) {
  const Error invalid{Code::kInvalid, "no"};
  EXPECT_EQ(ride_out(invalid, "a/b")->again_after, 60s);
  EXPECT_EQ(ride_out(invalid, "a/b", 5s)->again_after, 5s);
  EXPECT_EQ(ride_out(invalid, "a/b", 24h)->again_after, 60s);
  EXPECT_TRUE(ride_out(Error{Code::kForbidden, "no"}, "a/b").is(Code::kForbidden));
  EXPECT_EQ(*ride_out(Outcome{3s}, "a/b"), Outcome{3s});
}

}  // namespace
}  // namespace paddle::controllers
