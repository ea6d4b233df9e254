// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/child.h"

#include <csignal>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/clock.h"

namespace paddle::engine::juicefs {
namespace {

ChildCommand shell(const std::string& script) {
  return {.argv = {"/bin/sh", "-c", script}, .env = {"ONLY=this"}};
}

TEST(Child, SaysWhatItSaidAndHowItEnded) {
  const auto end = run_child(shell("echo out; echo err >&2; exit 3"), {});
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->exit_code, 3);
  EXPECT_EQ(end->said, "out\nerr\n");
  EXPECT_EQ(run_child(shell("kill -9 $$"), {})->exit_code, 128 + SIGKILL);
}

TEST(Child, HasNoEnvironmentButItsOwn) {
  ::setenv("CANARY_OF_THE_TEST", "x", 1);
  const auto end = run_child({.argv = {"/usr/bin/env"}, .env = {"ONLY=this"}}, {});
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->said, "ONLY=this\n");
}

TEST(Child, KeepsTheEndOfALongStory) {
  const auto end =
      run_child(shell("i=0; while [ $i -lt 20000 ]; do echo line$i; i=$((i+1)); done"), {});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->said.size(), kSaidLimit);
  EXPECT_TRUE(end->said.ends_with("line19999\n"));
}

TEST(Child, ThatCanNotBeStartedIsAnError) {
  EXPECT_TRUE(run_child({.argv = {"/nonexistent/program"}}, {}).is(Code::kUnavailable));
}

TEST(Child, IsStoppedWithEverythingItStarted) {
  std::stop_source stop;
  std::string heard;
  // It blocks what it is asked, and so do those it started: only a kill ends them.
  const auto end = run_child(shell("trap '' TERM; sleep 1000 & echo $!; wait"), stop.get_token(),
                             [&](std::string_view piece) {
                               heard.append(piece);
                               if (heard.ends_with('\n')) stop.request_stop();
                             });
  EXPECT_TRUE(end.is(Code::kCancelled));
  const int grandchild = std::atoi(heard.c_str());
  ASSERT_GT(grandchild, 0);
  // Killed it is already; on a busy machine it may take a moment to die of it.
  const std::string path = "/proc/" + heard.substr(0, heard.size() - 1) + "/cmdline";
  const auto runs = [&] {
    std::ifstream file(path);
    return file.get() != std::ifstream::traits_type::eof();
  };
  for (int i = 0; i < 1'000 && runs(); ++i) {
    system_clock().sleep(std::chrono::milliseconds{10}, {});
  }
  EXPECT_FALSE(runs()) << "it still runs";
}

TEST(Child, StartsWithSignalsAsUsual) {
  sigset_t all;
  sigfillset(&all);
  std::thread([&] {
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    const auto end = run_child(shell("grep SigBlk /proc/self/status"), {});
    EXPECT_EQ(end->said, "SigBlk:\t0000000000000000\n");
  }).join();
}

TEST(Child, InTheBackgroundComesAfterEverybodyElse) {
  ChildCommand command = shell("cut -d' ' -f19 /proc/self/stat");
  EXPECT_EQ(run_child(command, {})->said, std::to_string(::getpriority(PRIO_PROCESS, 0)) + "\n");
  command.background = true;
  EXPECT_EQ(run_child(command, {})->said, "15\n");
}

TEST(Child, IsHeldWhileItsGateIsShutAndLosesNothing) {
  int asked = 0;
  std::string heard;
  const auto end = run_child(
      shell("i=0; while [ $i -lt 20 ]; do echo $i; sleep 0.02; i=$((i+1)); done"), {},
      [&](std::string_view piece) { heard.append(piece); }, [&] { return ++asked % 3 != 0; });
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->exit_code, 0);
  EXPECT_TRUE(heard.starts_with("0\n1\n"));
  EXPECT_TRUE(heard.ends_with("19\n"));
}

TEST(Child, EndsAlsoWhileItIsHeld) {
  std::stop_source stop;
  bool shut = false;
  const auto end = run_child(
      shell("echo ready; sleep 1000"), stop.get_token(),
      [&](std::string_view piece) { shut |= !piece.empty(); },
      [&] {
        if (shut) stop.request_stop();
        return !shut;
      });
  EXPECT_TRUE(end.is(Code::kCancelled));
}

}  // namespace
}  // namespace paddle::engine::juicefs
