// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/plan/work_progress.h"

#include <gtest/gtest.h>

namespace paddle::engine::juicefs {
namespace {

using namespace std::chrono_literals;

TEST(ProgressWatch, WorkStandsStillWhenNothingChangesForTheLimit) {
  ProgressWatch watch(10min);
  const BootTime start = BootTime{} + 1h;
  EXPECT_FALSE(watch.stands_still(0, start)) << "the first call starts the time";
  EXPECT_FALSE(watch.stands_still(0, start + 9min));
  EXPECT_FALSE(watch.stands_still(5, start + 9min));
  EXPECT_FALSE(watch.stands_still(5, start + 18min));
  EXPECT_TRUE(watch.stands_still(5, start + 19min));
  EXPECT_FALSE(watch.stands_still(4, start + 20min)) << "any change counts";
}

TEST(WarmUpRound, AnErrorOfTheStorageDoesNotTurnNoRoomIntoAFailure) {
  EXPECT_EQ(after_round(0, 5, 1), RoundResult::kComplete);
  EXPECT_EQ(after_round(100, 0, 1), RoundResult::kNoRoom);
  EXPECT_EQ(after_round(100, 1, 1), RoundResult::kRepeat);
  EXPECT_EQ(after_round(100, 0, 2), RoundResult::kNoRoom) << "the repeated round had no errors";
  EXPECT_EQ(after_round(100, 3, kWarmUpRounds), RoundResult::kFailed);
}

}  // namespace
}  // namespace paddle::engine::juicefs
