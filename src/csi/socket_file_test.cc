// SPDX-License-Identifier: Apache-2.0
#include "csi/socket_file.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "csi/test_sockets.h"

namespace paddle::csi {
namespace {

TEST(SocketFile, AppearsReadyAndPrivateAndGoesWithItsOwner) {
  const SocketDir dir;
  const UnresponsiveSocket socket(dir.at(".a"));
  {
    const auto file = SocketFile::publish(dir.at(".a"), dir.at("a"));
    ASSERT_TRUE(file) << file.error().message;
    struct stat seen {};
    ASSERT_EQ(::stat(dir.at("a").c_str(), &seen), 0);
    EXPECT_EQ(seen.st_mode & 0777, 0600u);
    EXPECT_TRUE(S_ISSOCK(seen.st_mode));
    EXPECT_FALSE(std::filesystem::exists(dir.at(".a")));
    EXPECT_EQ(file->state(), SocketFile::State::kOurs);
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(SocketFile, ReplacesAFileThatAKilledProcessLeft) {
  const SocketDir dir;
  { const UnresponsiveSocket killed(dir.at("a")); }
  ASSERT_TRUE(std::filesystem::exists(dir.at("a")));
  const UnresponsiveSocket socket(dir.at(".a"));
  const auto file = SocketFile::publish(dir.at(".a"), dir.at("a"));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->state(), SocketFile::State::kOurs);
}

TEST(SocketFile, DetectsThatItIsGone) {
  const SocketDir dir;
  const UnresponsiveSocket socket(dir.at(".a"));
  const auto file = SocketFile::publish(dir.at(".a"), dir.at("a"));
  std::filesystem::remove(dir.at("a"));
  EXPECT_EQ(file->state(), SocketFile::State::kGone);
}

TEST(SocketFile, LeavesASuccessorsFileAlone) {
  const SocketDir dir;
  const UnresponsiveSocket socket(dir.at(".a"));
  const UnresponsiveSocket next(dir.at("next"));
  {
    const auto file = SocketFile::publish(dir.at(".a"), dir.at("a"));
    std::filesystem::rename(dir.at("next"), dir.at("a"));
    EXPECT_EQ(file->state(), SocketFile::State::kReplaced);
  }
  EXPECT_TRUE(std::filesystem::exists(dir.at("a")));
}

TEST(SocketFile, ReportsWhatFailed) {
  const SocketDir dir;
  EXPECT_TRUE(SocketFile::publish(dir.at(".none"), dir.at("a")).is(Code::kUnavailable));
}

}  // namespace
}  // namespace paddle::csi
