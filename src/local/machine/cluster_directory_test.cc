// SPDX-License-Identifier: Apache-2.0
#include "local/machine/cluster_directory.h"

#include <filesystem>
#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/scratch.h"
#include "local/machine/machine.h"

namespace paddle::local {
namespace {

class ClusterDirectoryTest : public testing::Test {
 protected:
  const Scratch scratch_{};
  const std::string top_ = scratch_.path();
  ClusterDirectory directory_{.path = top_ + "/a/b"};
};

TEST_F(ClusterDirectoryTest, IsCreatedPrivateWithItsParents) {
  ASSERT_TRUE(make_cluster_directory(directory_));
  ASSERT_TRUE(make_cluster_directory(directory_)) << "again";
  struct stat info {};
  ASSERT_EQ(::stat(directory_.path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  EXPECT_TRUE(make_cluster_directory({.path = "relative"}).is(Code::kInvalid));
  const auto refused = make_cluster_directory({.path = "/proc/nothing/here"});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("--directory"));
}

TEST_F(ClusterDirectoryTest, HasOneLockHolderUntilThatEnds) {
  ASSERT_TRUE(make_cluster_directory(directory_));
  EXPECT_FALSE(find_lock_holder(directory_));
  int ready[2], enough[2];
  ASSERT_EQ(::pipe(ready) + ::pipe(enough), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = lock_cluster_directory(directory_);
    const char byte = lock ? 'y' : 'n';
    if (::write(ready[1], &byte, 1) != 1) ::_exit(1);
    char end = 0;
    ::close(enough[1]);
    ::_exit(::read(enough[0], &end, 1) == 0 ? 0 : 1);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ASSERT_EQ(byte, 'y');
  EXPECT_TRUE(lock_cluster_directory(directory_).is(Code::kAlreadyExists));
  const auto holder = find_lock_holder(directory_);
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->pid, child);
  ::close(enough[1]);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(find_lock_holder(directory_));
  EXPECT_TRUE(lock_cluster_directory(directory_));
  for (const int fd : {ready[0], ready[1], enough[0]}) ::close(fd);
}

TEST_F(ClusterDirectoryTest, RemembersThePortOfTheApiServer) {
  ASSERT_TRUE(make_cluster_directory(directory_));
  EXPECT_EQ(last_port(directory_), 0);
  for (const auto& [text, port] : std::map<std::string, int>{
           {"7443\n", 7443}, {"none", 0}, {"70000", 0}, {"-1", 0}, {"", 0}}) {
    std::ofstream(directory_.port(), std::ios::trunc) << text;
    EXPECT_EQ(last_port(directory_), port) << text;
  }
}

TEST(PodEnvironment, InheritsFourVariablesAndFindsOurPrograms) {
  EXPECT_EQ(pod_environment({{"PATH", "/bin"}, {"HOME", "/h"}, {"TZ", "UTC"}, {"SECRET", "x"}},
                            "/opt/bin"),
            (std::map<std::string, std::string>{
                {"PATH", "/opt/bin:/bin"}, {"HOME", "/h"}, {"TZ", "UTC"}}));
  const auto bare = pod_environment({}, "/opt/bin");
  EXPECT_THAT(bare.at("PATH"), testing::StartsWith("/opt/bin:/usr/local/sbin:"));
  EXPECT_EQ(bare.at("HOME"), "/root");
}

}  // namespace
}  // namespace paddle::local
