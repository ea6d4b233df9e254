// SPDX-License-Identifier: Apache-2.0
#include "sealed/plan/view_plan.h"

#include <gtest/gtest.h>

#include "erofs/format.h"

namespace paddle::sealed {
namespace {

using erofs::kBlock;
using erofs::kChunk;

constexpr std::uint64_t kMax = ~std::uint64_t{0};

// Of one file of `size` bytes over segments of 10 blocks and of 4 MiB and 3 blocks.
std::string why(std::uint64_t size, std::vector<SegmentExtent> extents) {
  const std::uint64_t sizes[] = {10 * kBlock, kChunk + 3 * kBlock};
  ViewPlan plan(sizes);
  const auto added = plan.add({.path = "f", .size = size, .extents = extents});
  if (added) return "";
  EXPECT_EQ(plan.files(), 0u) << "what was refused is not in the plan";
  EXPECT_EQ(plan.bytes(), 0u);
  EXPECT_EQ(added.error().code, Code::kInvalid);
  EXPECT_FALSE(added.error().message.empty());
  return added.error().message;
}

TEST(ViewPlan, TakesExtentsThatEndWithTheirSegment) {
  EXPECT_EQ(why(1, {{0, 9 * kBlock, 1}}), "");
  EXPECT_EQ(why(2 * kBlock, {{0, 8 * kBlock, 2 * kBlock}}), "");
  EXPECT_EQ(why(kChunk + 1, {{1, 3 * kBlock, kChunk}, {0, 0, 1}}), "");
  EXPECT_EQ(why(0, {}), "");
}

TEST(ViewPlan, RefusesExtentsBeyondTheEnd) {
  EXPECT_NE(why(1, {{0, 10 * kBlock, 1}}), "");
  EXPECT_NE(why(kBlock + 1, {{0, 9 * kBlock, kBlock + 1}}), "");
  EXPECT_NE(why(1, {{0, kMax - kBlock + 1, 1}}), "") << "the end overflows";
  EXPECT_NE(why(kChunk, {{1, 4 * kBlock, kChunk}}), "");
}

TEST(ViewPlan, RefusesSegmentsThatDoNotExist) {
  EXPECT_NE(why(1, {{2, 0, 1}}), "");
  EXPECT_NE(why(1, {{0xFFFFFFFF, 0, 1}}), "");
}

TEST(ViewPlan, RefusesOffsetsWithinABlock) { EXPECT_NE(why(1, {{0, 512, 1}}), ""); }

TEST(ViewPlan, RefusesLengthsThatAreNotThoseOfTheFile) {
  EXPECT_NE(why(5, {{0, 0, 4}}), "");
  EXPECT_NE(why(5, {{0, 0, kMax}}), "");
  EXPECT_NE(why(5, {{0, 0, 5}, {0, 0, 0}}), "");
  EXPECT_NE(why(5, {}), "");
  EXPECT_NE(why(kChunk + 1, {{1, 0, kChunk + 1}}), "");
  EXPECT_NE(why(kMax, {{1, 0, kChunk}}), "");
}

TEST(ViewPlan, TheLastPartOfASegmentThatIsNoWholeBlockIsNotUsed) {
  const std::uint64_t sizes[] = {kBlock + 100};
  ViewPlan plan(sizes);
  const SegmentExtent extents[] = {{0, kBlock, 50}};
  EXPECT_FALSE(plan.add({.path = "f", .size = 50, .extents = extents}));
}

TEST(ViewPlan, BoundsTheBytesOfAllFiles) {
  const std::uint64_t sizes[] = {10 * kBlock};
  ViewPlan plan(sizes, {.bytes = 15});
  const SegmentExtent extents[] = {{0, 0, 10}};
  EXPECT_TRUE(plan.add({.path = "a", .size = 10, .extents = extents}));
  EXPECT_FALSE(plan.add({.path = "b", .size = 10, .extents = extents}));
  EXPECT_EQ(plan.bytes(), 10u);
}

TEST(ViewPlan, ExtentsComeInTheOrderOfTheDiskAndSharedOnesOnce) {
  const std::uint64_t sizes[] = {10 * kBlock, 10 * kBlock};
  ViewPlan plan(sizes);
  const SegmentExtent last[] = {{1, kBlock, 10, 7}};
  const SegmentExtent first[] = {{0, 2 * kBlock, 10, 8}};
  ASSERT_TRUE(plan.add({.path = "a", .size = 10, .extents = last}));
  ASSERT_TRUE(plan.add({.path = "b", .size = 10, .extents = first}));
  ASSERT_TRUE(plan.add({.path = "c", .size = 10, .extents = last}));
  const auto extents = plan.take_extents();
  ASSERT_TRUE(extents);
  EXPECT_EQ(*extents, (std::vector<SegmentExtent>{first[0], last[0]}));
}

TEST(ViewPlan, OneExtentCannotHaveTwoChecksums) {
  const std::uint64_t sizes[] = {10 * kBlock};
  ViewPlan plan(sizes);
  const SegmentExtent one[] = {{0, 0, 10, 1}};
  const SegmentExtent two[] = {{0, 0, 10, 2}};
  ASSERT_TRUE(plan.add({.path = "a", .size = 10, .extents = one}));
  ASSERT_TRUE(plan.add({.path = "b", .size = 10, .extents = two}));
  EXPECT_TRUE(plan.take_extents().is(Code::kInvalid));
}

}  // namespace
}  // namespace paddle::sealed
