// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <gtest/gtest.h>

namespace paddle {
namespace {

TEST(HumanSize, MatchesThePublishedColumns) {
  EXPECT_EQ(human_size(0), "0 B");
  EXPECT_EQ(human_size(9), "9 B");
  EXPECT_EQ(human_size(200), "200 B");
  EXPECT_EQ(human_size(4096), "4.0 KiB");
  EXPECT_EQ(human_size(58LL << 20), "58 MiB");
  EXPECT_EQ(human_size(4509715660), "4.2 GiB");
  EXPECT_EQ(human_size(12LL << 30), "12 GiB");
  EXPECT_EQ(human_size(INT64_MAX), "8.0 EiB");
  EXPECT_EQ(human_size(-5), "0 B");
}

TEST(WithCommas, SetsOneEveryThreeDigits) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1000), "1,000");
  EXPECT_EQ(with_commas(128660), "128,660");
  EXPECT_EQ(with_commas(-1234567), "-1,234,567");
}

}  // namespace
}  // namespace paddle
