// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/plan/sync_pace.h"

#include <gtest/gtest.h>

namespace paddle::engine::juicefs {
namespace {

using std::chrono::milliseconds;

constexpr double kMuch = 50 << 20;

TEST(SyncPace, DropsAtOnceWhenReadersMissTheCache) {
  EXPECT_EQ(next_share(1, kMuch), kLeastShare);
  EXPECT_EQ(next_share(kLeastShare, kMuch), kLeastShare);
}

TEST(SyncPace, NeverDropsToZero) {
  EXPECT_GE(kLeastShare, 0.1);
  EXPECT_LE(kLeastShare, 0.2);
  int ran = 0;
  for (int at = 0; at < 10'000; at += 10) ran += runs_now(kLeastShare, milliseconds(at)) ? 1 : 0;
  EXPECT_EQ(ran, 150);  // of a thousand
}

TEST(SyncPace, RecoversStepByStep) {
  double share = kLeastShare;
  double before = 0;
  int steps = 0;
  for (; share < 1; ++steps) {
    before = share;
    share = next_share(share, 0);
    EXPECT_GT(share, before);
  }
  EXPECT_EQ(share, 1);
  EXPECT_GE(steps, 4);
  EXPECT_LE(steps, 6);
  EXPECT_EQ(next_share(1, 0), 1);
}

TEST(SyncPace, AFewMissesDoNotChangeIt) { EXPECT_EQ(next_share(1, 4'096), 1); }

TEST(SyncPace, AFullShareAlwaysRuns) {
  for (int at = 0; at < 2'000; at += 7) EXPECT_TRUE(runs_now(1, milliseconds(at)));
  EXPECT_TRUE(runs_now(0.5, milliseconds(1'499)));
  EXPECT_FALSE(runs_now(0.5, milliseconds(1'500)));
}

}  // namespace
}  // namespace paddle::engine::juicefs
