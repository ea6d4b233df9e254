// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/plan/usage_estimate.h"

#include <gtest/gtest.h>

namespace paddle::engine::juicefs {
namespace {

TEST(UsageEstimate, FollowsTheClientsCacheBetweenTwoPolls) {
  EXPECT_EQ(payload(2, 2 * 4096 + 500), 500);
  EXPECT_EQ(payload(2, 500), 500) << "a cache in memory counts no pages";

  Status last;
  last.index = Status::Index{.files = 10, .bytes = 1000};
  last.cached_bytes = 300;
  last.part_bytes = 400;
  last.part_cached_bytes = 100;
  EXPECT_EQ(followed(last, 50, 250, false).cached_bytes, 500);
  EXPECT_EQ(followed(last, 50, 250, false).part_cached_bytes, 100)
      << "its part is not being filled";
  EXPECT_EQ(followed(last, 50, 250, true).part_cached_bytes, 300);
  EXPECT_EQ(followed(last, 50, 5050, true).cached_bytes, 1000);
  EXPECT_EQ(followed(last, 50, 5050, true).part_cached_bytes, 400);
}

TEST(UsageEstimate, TheSpaceLeftIsTheCachesLimitWithoutWhatItHolds) {
  Status status;
  update_space(status, 1000, 300);
  EXPECT_EQ(status.disk_size, 1000);
  EXPECT_EQ(status.disk_used, 300);
  EXPECT_EQ(status.disk_avail, 700);
  update_space(status, 1000, 1200);  // the client is about to evict
  EXPECT_EQ(status.disk_used, 1000);
  EXPECT_EQ(status.disk_avail, 0);
}

TEST(UsageEstimate, FollowsACacheThatShrinks) {
  Status last;
  last.index = Status::Index{.files = 10, .bytes = 1000};
  last.cached_bytes = 300;
  last.part_bytes = 200;
  last.part_cached_bytes = 200;
  EXPECT_EQ(followed(last, 5000, 10, true).cached_bytes, 0);
  EXPECT_EQ(followed(last, 300, 150, false).cached_bytes, 150);
  EXPECT_EQ(followed(last, 300, 150, false).part_cached_bytes, 150) << "no more than all of it";
  EXPECT_EQ(followed(last, 120, 0, false).cached_bytes, 0) << "an empty cache has nothing";
  EXPECT_EQ(followed(last, 120, 0, false).part_cached_bytes, 0);
}

TEST(UsageEstimate, AClientThatHangsDoesNotCountAsServing) {
  Status last;
  last.mounts = 1;
  last.cached_bytes = 7;
  EXPECT_EQ(shown(last, std::chrono::seconds{29}).mounts, 1);
  EXPECT_EQ(shown(last, std::chrono::seconds{29}).remark, "");
  const Status silent = shown(last, std::chrono::seconds{31});
  EXPECT_EQ(silent.mounts, 0);
  EXPECT_EQ(silent.cached_bytes, 7) << "what was seen last";
  EXPECT_NE(silent.remark.find("has not answered"), std::string::npos) << silent.remark;
  EXPECT_EQ(shown(last, std::chrono::hours{1}).remark, silent.remark);
}

TEST(UsageEstimate, OfALargeSetOnlyTheOwnPartIsChecked) {
  EXPECT_TRUE(checks_whole(100'000, 10));
  EXPECT_FALSE(checks_whole(1'000'000, 20'000));
  EXPECT_TRUE(checks_whole(1'000'000, 0)) << "nothing was warmed up: there is no own part";
  EXPECT_TRUE(checks_whole(1'000'000, 1'000'000)) << "the part is the whole set";
}

TEST(UsageEstimate, AVolumeThatWasNotCheckedNeverCountsAsWhollyCached) {
  EXPECT_EQ(cached_of_whole(1'000, 200, 300), 300);
  EXPECT_EQ(cached_of_whole(1'000, 200, 100), 200) << "what was checked is cached";
  EXPECT_EQ(cached_of_whole(1'000, 200, 5'000), 999);
  EXPECT_EQ(cached_of_whole(0, 0, 5), 0);
}

}  // namespace
}  // namespace paddle::engine::juicefs
