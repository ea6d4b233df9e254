// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/lists/old_paths.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/scratch.h"

namespace paddle::engine::juicefs {
namespace {

class OldPathsTest : public testing::Test {
 protected:
  void write(const std::string& path) {
    const std::string whole = root_ + "/" + path;
    std::filesystem::create_directories(std::filesystem::path(whole).parent_path());
    std::ofstream(whole) << "x";
  }
  // What is made from here on is younger.
  WallTime later() {
    system_clock().sleep(std::chrono::milliseconds{20}, {});
    const WallTime now = system_clock().wall();
    system_clock().sleep(std::chrono::milliseconds{20}, {});
    return now;
  }
  OldPaths old(const std::string& path, WallTime limit) {
    auto found = paths_older_than(root_, path, limit, {});
    EXPECT_TRUE(found) << found.error().message;
    std::sort(found->paths.begin(), found->paths.end());
    return *std::move(found);
  }

  const Scratch scratch_{};
  const std::string root_ = scratch_.path();
};

using OldWords = std::vector<std::string>;

TEST_F(OldPathsTest, AreOneDirectoryWhenNothingIsNewer) {
  write("train/a/1");
  write("train/b/2");
  const auto found = old("train", later());
  EXPECT_EQ(found.paths, OldWords{"train"});
  EXPECT_EQ(found.younger, 0);
}

TEST_F(OldPathsTest, LeaveNewerFilesWhateverTheirModificationTime) {
  write("train/a/1");
  write("train/b/2");
  write("train/c/old");
  const WallTime limit = later();
  write("train/a/3");
  write("train/c/new");
  std::filesystem::last_write_time(
      root_ + "/train/a/3",
      std::filesystem::file_time_type::clock::now() - std::chrono::hours{1'000});
  const auto found = old("train", limit);
  EXPECT_EQ(found.paths, (OldWords{"train/a/1", "train/b", "train/c/old"}));
  EXPECT_EQ(found.younger, 2);
  EXPECT_EQ(old("train/a/3", limit).paths, OldWords{});
  EXPECT_EQ(old("train/b/2", limit).paths, OldWords{"train/b/2"});
}

TEST_F(OldPathsTest, FollowNoLinksAndReportAMissingPath) {
  write("train/1");
  std::filesystem::create_symlink("/etc", root_ + "/train/link");
  const WallTime limit = later();
  EXPECT_EQ(old("train", limit).paths, OldWords{"train"});
  EXPECT_TRUE(paths_older_than(root_, "train/link/passwd", limit, {}).is(Code::kNotFound));
  EXPECT_TRUE(paths_older_than(root_, "val", limit, {}).is(Code::kNotFound));
}

TEST_F(OldPathsTest, StopOnRequest) {
  write("train/1");
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(paths_older_than(root_, "train", later(), stop.get_token()).is(Code::kCancelled));
}

TEST(RemovalLimit, IsTheEndOfTheSecondInWhichItWasAccepted) {
  EXPECT_EQ(removal_limit(5'000).time_since_epoch(), std::chrono::seconds{6});
}

}  // namespace
}  // namespace paddle::engine::juicefs
