// SPDX-License-Identifier: Apache-2.0
#include "local/node/restart_backoff.h"

#include <vector>

#include <gtest/gtest.h>

namespace paddle::local {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// The pauses after `ends` exits in a row, each after the container ran for `ran`.
std::vector<milliseconds> pauses(int ends, milliseconds ran, bool readers_wait) {
  std::vector<milliseconds> found;
  RestartBackoff backoff;
  for (int i = 0; i < ends; ++i) {
    backoff = backoff_after(backoff.early, ran, readers_wait);
    found.push_back(backoff.pause);
  }
  return found;
}

TEST(RestartBackoff, AContainerThatEndsSoonWaitsLongerEachTime) {
  const std::vector<milliseconds> wanted{seconds{0},  seconds{1},  seconds{2},
                                         seconds{4},  seconds{8},  seconds{16},
                                         seconds{32}, seconds{60}, seconds{60}};
  EXPECT_EQ(pauses(9, milliseconds{100}, false), wanted);
  EXPECT_EQ(pauses(1000, milliseconds{100}, false).back(), seconds{60});
}

TEST(RestartBackoff, AContainerThatRanLongRestartsAtOnceAndResetsTheBackoff) {
  for (const bool readers_wait : {false, true}) {
    for (const auto pause : pauses(100, kHealthyRun, readers_wait)) EXPECT_EQ(pause, seconds{0});
    EXPECT_EQ(backoff_after(7, kHealthyRun, readers_wait), RestartBackoff{});
  }
}

TEST(RestartBackoff, APodThatReadersWaitForNeverWaitsLong) {
  const auto chosen = pauses(1000, milliseconds{0}, true);
  for (int i = 0; i < kImmediateRestarts; ++i)
    EXPECT_EQ(chosen[static_cast<std::size_t>(i)], seconds{0});
  EXPECT_EQ(chosen[kImmediateRestarts], seconds{1});
  EXPECT_EQ(chosen.back(), seconds{1}) << "one that cannot start does not keep a processor busy";
}

TEST(RestartBackoff, ReadersWaitForPodsThatServeASession) {
  PodSpec pod;
  EXPECT_FALSE(readers_wait_for(pod));
  pod.volumes["cache"] = RuntimeVolume{.session = false};
  EXPECT_FALSE(readers_wait_for(pod));
  pod.volumes["session"] = RuntimeVolume{.session = true};
  EXPECT_TRUE(readers_wait_for(pod));
}

}  // namespace
}  // namespace paddle::local
