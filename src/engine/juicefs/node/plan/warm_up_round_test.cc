// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/plan/warm_up_round.h"

#include <gtest/gtest.h>

namespace paddle::engine::juicefs {
namespace {

TEST(WarmUpRound, AnErrorOfTheStorageDoesNotTurnNoRoomIntoAFailure) {
  EXPECT_EQ(after_round(0, 5, 1), RoundResult::kComplete);
  EXPECT_EQ(after_round(100, 0, 1), RoundResult::kNoRoom);
  EXPECT_EQ(after_round(100, 1, 1), RoundResult::kRepeat);
  EXPECT_EQ(after_round(100, 0, 2), RoundResult::kNoRoom) << "the repeated round had no errors";
  EXPECT_EQ(after_round(100, 3, kWarmUpRounds), RoundResult::kFailed);
}

}  // namespace
}  // namespace paddle::engine::juicefs
