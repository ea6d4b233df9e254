// SPDX-License-Identifier: Apache-2.0
#include "source/pace.h"

#include <gtest/gtest.h>

namespace paddle::source {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Pace, KeepsToItsRateFromTheFirstBytesOn) {
  ManualClock clock;
  Pace pace(1000, clock);
  const BootTime begin = clock.boot();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(pace.take(100, {}));
  // The last take may begin when the 9,900 bytes before it are through, less one burst.
  EXPECT_EQ(clock.boot() - begin, milliseconds(9900) - Pace::kBurst);
}

TEST(Pace, AnIdleTimeIsNotSavedUp) {
  ManualClock clock;
  Pace pace(1000, clock);
  clock.advance(seconds(3600));
  const BootTime begin = clock.boot();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(pace.take(1000, {}));
  EXPECT_EQ(clock.boot() - begin, seconds(9) - Pace::kBurst);
}

TEST(Pace, WithoutARateNothingWaits) {
  ManualClock clock;
  Pace pace(0, clock);
  const BootTime begin = clock.boot();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(pace.take(std::uint64_t{1} << 40, {}));
  EXPECT_EQ(clock.boot(), begin);
  pace.set_rate(1);
  ASSERT_TRUE(pace.take(1, {}));
  ASSERT_TRUE(pace.take(1, {}));
  EXPECT_GT(clock.boot(), begin);
}

TEST(Pace, AReaderDoesNotWaitForWhatTheBackgroundHasTakenAndTheSumKeepsToTheRate) {
  ManualClock clock;
  Pace pace(1000, clock);
  ASSERT_TRUE(pace.take(60'000, {}));  // a minute of the background
  const BootTime begin = clock.boot();
  ASSERT_TRUE(pace.take(5000, {{}, begin + seconds(1)}));
  EXPECT_EQ(clock.boot(), begin);
  ASSERT_TRUE(pace.take(1, {}));
  EXPECT_EQ(clock.boot() - begin, seconds(65) - Pace::kBurst) << "what the reader took counts";
}

TEST(Pace, AReaderWhoseDeadlineComesFirstFailsAndTakesNothing) {
  ManualClock clock;
  Pace pace(1000, clock);
  const auto until = [&] { return CallContext{{}, clock.boot() + seconds(2)}; };
  ASSERT_TRUE(pace.take(10'000, until()));
  const BootTime begin = clock.boot();
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(pace.take(10'000, until()).is(Code::kDeadline));
  EXPECT_EQ(clock.boot(), begin);
  ASSERT_TRUE(pace.take(1, {{}, begin + seconds(60)}));
  EXPECT_EQ(clock.boot() - begin, seconds(10) - Pace::kBurst);
}

TEST(Pace, AStopEndsTheWait) {
  Pace pace(1);
  ASSERT_TRUE(pace.take(1'000'000, {}));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(pace.take(1, stop.get_token()).is(Code::kCancelled));
}

}  // namespace
}  // namespace paddle::source
