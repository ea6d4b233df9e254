// SPDX-License-Identifier: Apache-2.0
#include "net/values/retry_after.h"

#include <gtest/gtest.h>

namespace paddle::net {
namespace {

using namespace std::chrono_literals;

const WallTime kNow = *parse_rfc3339("2015-10-21T07:28:00Z");

TEST(RetryAfter, SecondsAreTakenAsTheyAre) {
  EXPECT_EQ(parse_retry_after("0", kNow), 0ms);
  EXPECT_EQ(parse_retry_after("17", kNow), 17000ms);
}

TEST(RetryAfter, ADateIsCountedFromNow) {
  EXPECT_EQ(parse_retry_after("Wed, 21 Oct 2015 07:28:05 GMT", kNow), 5000ms);
  EXPECT_EQ(parse_retry_after("Wednesday, 21-Oct-15 07:28:05 GMT", kNow), 5000ms);
  EXPECT_EQ(parse_retry_after("Wed, 21 Oct 2015 07:27:00 GMT", kNow), 0ms);
}

TEST(RetryAfter, IsBoundedAndIgnoresInvalidText) {
  EXPECT_EQ(parse_retry_after("99999999999999999999", kNow), 1h);
  EXPECT_EQ(parse_retry_after("Wed, 21 Oct 2099 07:28:00 GMT", kNow), 1h);
  for (const char* text : {"", "-1", "soon", "1.5", "1s", "Soon"}) {
    EXPECT_EQ(parse_retry_after(text, kNow), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace paddle::net
