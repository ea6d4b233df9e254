// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <chrono>
#include <utility>

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

TEST(Units, DurationsAreFormattedAsKubectlDoes) {
  const std::pair<int, const char*> known[] = {
      {-5, "<invalid>"},  {0, "0s"},         {119, "119s"},         {120, "2m"},
      {270, "4m30s"},     {3600, "60m"},     {3 * 3600, "3h"},      {3 * 3600 + 60, "3h1m"},
      {30 * 3600, "30h"}, {3 * 86400, "3d"}, {800 * 86400, "2y70d"}};
  for (const auto& [span, text] : known)
    EXPECT_EQ(human_duration(std::chrono::seconds{span}), text);
}

}  // namespace
}  // namespace paddle
