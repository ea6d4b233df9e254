// SPDX-License-Identifier: Apache-2.0
#include "kube/informer/state/reflector_plan.h"

#include <gtest/gtest.h>

namespace paddle::kube {
namespace {

using Kind = ReflectorStep::Kind;
using namespace std::chrono_literals;

class ReflectorPlanTest : public testing::Test {
 protected:
  ReflectorStep broke(Code code, size_t events = 0) {
    return plan_.after_watch({.version = "7", .events = events, .error = Error{code, "x"}});
  }
  Random random_{1};
  ReflectorPlan plan_{ReflectorPace{}, random_};
};

TEST_F(ReflectorPlanTest, BeginsWithAListAndWatchesFromItsVersion) {
  EXPECT_EQ(plan_.first().kind, Kind::kList);
  EXPECT_EQ(plan_.first().version, "0") << "from the server's cache";
  EXPECT_EQ(plan_.first().page_size, 500);
  const auto watch = plan_.after_list(std::string("42"));
  EXPECT_EQ(watch.kind, Kind::kWatch);
  EXPECT_EQ(watch.version, "42");
  EXPECT_EQ(watch.pause, 0ns);
}

TEST_F(ReflectorPlanTest, RenewsAWatchThatTheServerEndedAtOnceAndWithoutAList) {
  const auto next = plan_.after_watch({.version = "50", .events = 3, .lasted = 400s});
  EXPECT_EQ(next.kind, Kind::kWatch);
  EXPECT_EQ(next.version, "50");
  EXPECT_EQ(next.pause, 0ns);
  const auto quiet = plan_.after_watch({.version = "50", .lasted = 400s});
  EXPECT_EQ(quiet.pause, 0ns);
}

TEST_F(ReflectorPlanTest, DoesNotSpinOnAServerThatEndsEveryWatchAtOnce) {
  for (int i = 0; i < 5; ++i) {
    const auto next = plan_.after_watch({.version = "50", .lasted = 1ms});
    EXPECT_EQ(next.kind, Kind::kWatch);
    EXPECT_GE(next.pause, 50ms);
  }
}

TEST_F(ReflectorPlanTest, RetriesEveryFewSecondsWhileTheServerDoesNotKnowTheResource) {
  std::chrono::nanoseconds longest{0};
  for (int i = 0; i < 40; ++i) {
    const auto next = plan_.after_list(Error{Code::kNotFound, "404 page not found"});
    EXPECT_EQ(next.kind, Kind::kList);
    EXPECT_GE(next.pause, 50ms);
    longest = std::max(longest, next.pause);
  }
  EXPECT_GT(longest, 2500ms);
  EXPECT_LE(longest, 7500ms);
}

TEST_F(ReflectorPlanTest, ResumesABrokenWatchFromTheLastVersionAfterGrowingPauses) {
  std::chrono::nanoseconds longest{0};
  for (int i = 0; i < 40; ++i) {
    const auto next = broke(Code::kUnavailable);
    EXPECT_EQ(next.kind, Kind::kWatch);
    EXPECT_EQ(next.version, "7");
    const auto planned = std::min<std::chrono::nanoseconds>(100ms * (1LL << std::min(i, 20)), 30s);
    EXPECT_GE(next.pause, planned / 2);
    EXPECT_LE(next.pause, planned * 3 / 2);
    longest = std::max(longest, next.pause);
  }
  EXPECT_GT(longest, 15s);
  EXPECT_LE(broke(Code::kUnavailable, 1).pause, 150ms) << "progress starts over";
}

TEST_F(ReflectorPlanTest, ListsAtOnceWhenTheVersionExpiredButDoesNotSpinOnThat) {
  const auto once = broke(Code::kExpired);
  EXPECT_EQ(once.kind, Kind::kList);
  EXPECT_EQ(once.pause, 0ns);
  EXPECT_EQ(plan_.after_list(std::string("8")).pause, 0ns);
  const auto again = broke(Code::kExpired);
  EXPECT_EQ(again.kind, Kind::kList);
  EXPECT_GT(again.pause, 0ns);
}

TEST_F(ReflectorPlanTest, ListsAgainFromTheCacheNotOlderThanWhatWasSeen) {
  plan_.first();
  plan_.after_list(std::string("5"));
  const auto next = broke(Code::kExpired);  // at version 7
  EXPECT_EQ(next.kind, Kind::kList);
  EXPECT_EQ(next.version, "7");
  EXPECT_EQ(next.page_size, 0) << "a page size would bypass the cache";
  EXPECT_EQ(plan_.after_list(Error{Code::kUnavailable, "x"}).version, "7")
      << "a server that is away is no reason to read from etcd";
}

TEST_F(ReflectorPlanTest, ListsFromEtcdInPagesWhenTheCacheCannotServeTheVersion) {
  plan_.first();
  plan_.after_list(std::string("5"));
  broke(Code::kExpired);
  const auto next = plan_.after_list(Error{Code::kExpired, "Too large resource version"});
  EXPECT_EQ(next.version, "") << "the most recent";
  EXPECT_EQ(next.page_size, 500);
  plan_.after_list(std::string("3"));  // the server was restored
  EXPECT_EQ(plan_.after_watch({.version = "3", .error = Error{Code::kInvalid, "x"}}).version, "3");
}

TEST_F(ReflectorPlanTest, ReadsAListWhosePagesExpiredInOnePiece) {
  plan_.first();
  EXPECT_EQ(plan_.after_list(Error{Code::kExpired, "x"}).page_size, 500);
  const auto next = plan_.after_list(Error{Code::kExpired, "x"});
  EXPECT_EQ(next.kind, Kind::kList);
  EXPECT_EQ(next.version, "");
  EXPECT_EQ(next.page_size, 0);
  EXPECT_EQ(plan_.after_list(Error{Code::kUnavailable, "x"}).page_size, 500);
}

TEST_F(ReflectorPlanTest, WaitsForThePauseThatTheServerRequests) {
  const auto next = plan_.after_watch(
      {.version = "7", .error = Error{Code::kThrottled, "x", std::chrono::milliseconds(9000)}});
  EXPECT_EQ(next.kind, Kind::kWatch);
  EXPECT_GE(next.pause, 9s);
  EXPECT_GE(plan_.after_list(Error{Code::kThrottled, "x", std::chrono::milliseconds(9000)}).pause,
            9s);
}

TEST_F(ReflectorPlanTest, ListsAgainAfterAnEventItCouldNotRead) {
  const auto next = broke(Code::kInvalid, 2);
  EXPECT_EQ(next.kind, Kind::kList);
  EXPECT_GT(next.pause, 0ns);
}

TEST_F(ReflectorPlanTest, SpreadsTheEndsOfWatchesBetweenFiveAndTenMinutes) {
  std::chrono::seconds least = 1h;
  std::chrono::seconds most = 0s;
  for (int i = 0; i < 500; ++i) {
    const auto timeout = plan_.after_list(std::string("1")).timeout;
    least = std::min(least, timeout);
    most = std::max(most, timeout);
  }
  EXPECT_GE(least, 300s);
  EXPECT_LE(most, 600s);
  EXPECT_LT(least, 330s);
  EXPECT_GT(most, 570s);
}

TEST_F(ReflectorPlanTest, StopsWhenCancelled) {
  EXPECT_EQ(broke(Code::kCancelled).kind, Kind::kStop);
  EXPECT_EQ(plan_.after_list(Error{Code::kCancelled, "x"}).kind, Kind::kStop);
}

}  // namespace
}  // namespace paddle::kube
