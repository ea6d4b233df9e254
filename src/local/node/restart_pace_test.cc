// SPDX-License-Identifier: Apache-2.0
#include "local/node/restart_pace.h"

#include <vector>

#include <gtest/gtest.h>

namespace paddle::local {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// The pauses after that many ends in a row, each after the container ran for `ran`.
std::vector<milliseconds> pauses(int ends, milliseconds ran, bool others_wait) {
  std::vector<milliseconds> found;
  RestartPace pace;
  for (int i = 0; i < ends; ++i) {
    pace = pace_after(pace.early, ran, others_wait);
    found.push_back(pace.pause);
  }
  return found;
}

TEST(RestartPace, WhatDiesYoungWaitsLongerAndLonger) {
  const std::vector<milliseconds> wanted{seconds{0},  seconds{1},  seconds{2},
                                         seconds{4},  seconds{8},  seconds{16},
                                         seconds{32}, seconds{60}, seconds{60}};
  EXPECT_EQ(pauses(9, milliseconds{100}, false), wanted);
  EXPECT_EQ(pauses(1000, milliseconds{100}, false).back(), seconds{60});
}

TEST(RestartPace, WhatRanWellStartsAgainAtOnceAndIsForgiven) {
  for (const bool others_wait : {false, true}) {
    for (const auto pause : pauses(100, kRanWell, others_wait)) EXPECT_EQ(pause, seconds{0});
    EXPECT_EQ(pace_after(7, kRanWell, others_wait), RestartPace{});
  }
}

TEST(RestartPace, WhatOthersWaitForNeverWaitsLong) {
  const auto chosen = pauses(1000, milliseconds{0}, true);
  for (int i = 0; i < kPatience; ++i) EXPECT_EQ(chosen[static_cast<std::size_t>(i)], seconds{0});
  EXPECT_EQ(chosen[kPatience], seconds{1});
  EXPECT_EQ(chosen.back(), seconds{1}) << "one that cannot start does not keep a processor busy";
}

TEST(RestartPace, OthersWaitForThePodsThatServeASession) {
  PodSpec pod;
  EXPECT_FALSE(others_wait_for(pod));
  pod.volumes["cache"] = RuntimeVolume{.session = false};
  EXPECT_FALSE(others_wait_for(pod));
  pod.volumes["session"] = RuntimeVolume{.session = true};
  EXPECT_TRUE(others_wait_for(pod));
}

}  // namespace
}  // namespace paddle::local
