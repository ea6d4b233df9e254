// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/sync/child_process.h"

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

TEST(ChildProcess, SaysWhatItSaidAndHowItEnded) {
  const auto end = run_child(shell("echo out; echo err >&2; exit 3"), {});
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->exit_code, 3);
  EXPECT_EQ(end->output, "out\nerr\n");
  EXPECT_EQ(run_child(shell("kill -9 $$"), {})->exit_code, 128 + SIGKILL);
}

TEST(ChildProcess, HasNoEnvironmentButItsOwn) {
  ::setenv("CANARY_OF_THE_TEST", "x", 1);
  const auto end = run_child({.argv = {"/usr/bin/env"}, .env = {"ONLY=this"}}, {});
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->output, "ONLY=this\n");
}

TEST(ChildProcess, KeepsTheEndOfALongStory) {
  const auto end =
      run_child(shell("i=0; while [ $i -lt 20000 ]; do echo line$i; i=$((i+1)); done"), {});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->output.size(), kOutputLimit);
  EXPECT_TRUE(end->output.ends_with("line19999\n"));
}

TEST(ChildProcess, ThatCanNotBeStartedIsAnError) {
  EXPECT_TRUE(run_child({.argv = {"/nonexistent/program"}}, {}).is(Code::kUnavailable));
}

TEST(ChildProcess, IsStoppedWithEverythingItStarted) {
  std::stop_source stop;
  std::string output;
  // It blocks what it is asked, and so do those it started: only a kill ends them.
  const auto end = run_child(shell("trap '' TERM; sleep 1000 & echo $!; wait"), stop.get_token(),
                             [&](std::string_view piece) {
                               output.append(piece);
                               if (output.ends_with('\n')) stop.request_stop();
                             });
  EXPECT_TRUE(end.is(Code::kCancelled));
  const int grandchild = std::atoi(output.c_str());
  ASSERT_GT(grandchild, 0);
  // Killed it is already; on a busy machine it may take a moment to die of it.
  const std::string path = "/proc/" + output.substr(0, output.size() - 1) + "/cmdline";
  const auto runs = [&] {
    std::ifstream file(path);
    return file.get() != std::ifstream::traits_type::eof();
  };
  for (int i = 0; i < 1'000 && runs(); ++i) {
    system_clock().sleep(std::chrono::milliseconds{10}, {});
  }
  EXPECT_FALSE(runs()) << "it still runs";
}

TEST(ChildProcess, StartsWithSignalsAsUsual) {
  sigset_t all;
  sigfillset(&all);
  std::thread([&] {
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    const auto end = run_child(shell("grep SigBlk /proc/self/status"), {});
    EXPECT_EQ(end->output, "SigBlk:\t0000000000000000\n");
  }).join();
}

TEST(ChildProcess, InTheBackgroundComesAfterEverybodyElse) {
  ChildCommand command = shell("cut -d' ' -f19 /proc/self/stat");
  EXPECT_EQ(run_child(command, {})->output, std::to_string(::getpriority(PRIO_PROCESS, 0)) + "\n");
  command.background = true;
  EXPECT_EQ(run_child(command, {})->output, "15\n");
}

TEST(ChildProcess, IsHeldWhileItsGateIsShutAndLosesNothing) {
  int asked = 0;
  std::string output;
  const auto end = run_child(
      shell("i=0; while [ $i -lt 20 ]; do echo $i; sleep 0.02; i=$((i+1)); done"), {},
      [&](std::string_view piece) { output.append(piece); }, [&] { return ++asked % 3 != 0; });
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->exit_code, 0);
  EXPECT_TRUE(output.starts_with("0\n1\n"));
  EXPECT_TRUE(output.ends_with("19\n"));
}

TEST(ChildProcess, EndsAlsoWhileItIsHeld) {
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
