// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/plan/progress_watch.h"

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

}  // namespace
}  // namespace paddle::engine::juicefs
