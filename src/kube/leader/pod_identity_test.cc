// SPDX-License-Identifier: Apache-2.0
#include "kube/leader/pod_identity.h"

#include <csignal>
#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace paddle::kube {
namespace {

// Of this run: tests of another checkout may run in the same network namespace.
std::string uid() { return "uid-" + std::to_string(getpid()); }

TEST(PodIdentity, IsTheSameAfterARestartInThePod) {
  auto first = PodIdentity::claim("manager-7", uid());
  ASSERT_TRUE(first);
  const std::string text = first->text();
  EXPECT_EQ(text, "manager-7_" + uid());
  first.reset();  // the container ends
  const auto second = PodIdentity::claim("manager-7", uid());
  ASSERT_TRUE(second);
  EXPECT_EQ(second->text(), text);
}

TEST(PodIdentity, IsNotGivenTwice) {
  const auto first = PodIdentity::claim("manager-7", uid());
  ASSERT_TRUE(first);
  EXPECT_FALSE(PodIdentity::claim("manager-7", uid()));
  EXPECT_TRUE(PodIdentity::claim("manager-7", uid() + "-of-another-pod"));
}

TEST(PodIdentity, IsFreeAsSoonAsItsProcessIsKilled) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const std::string name = uid();
  const pid_t child = fork();
  if (child == 0) {
    const auto held = PodIdentity::claim("manager-7", name);
    const char answer = held ? 'y' : 'n';
    if (write(ready[1], &answer, 1) == 1) pause();
    _exit(1);
  }
  char answer = 0;
  ASSERT_EQ(read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  EXPECT_FALSE(PodIdentity::claim("manager-7", name));
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(PodIdentity::claim("manager-7", name));
  close(ready[0]);
  close(ready[1]);
}

TEST(PodIdentity, NeedsAPodNameAndUid) {
  EXPECT_FALSE(PodIdentity::claim("", uid()));
  EXPECT_FALSE(PodIdentity::claim("manager-7", ""));
  EXPECT_FALSE(PodIdentity::claim("manager-7", std::string(200, 'u')));  // no uid is as long
}

}  // namespace
}  // namespace paddle::kube
