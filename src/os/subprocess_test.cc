// SPDX-License-Identifier: Apache-2.0
#include "os/subprocess.h"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace paddle::os {
namespace {

using namespace std::chrono_literals;

Command shell(const std::string& script) {
  return {.argv = {"/bin/sh", "-c", script}, .env = {"PATH=/bin:/usr/bin"}};
}

Result<CompletedProcess> run(const Command& command, std::stop_token stop = {}) {
  return run_subprocess(command, system_clock(), std::move(stop));
}

// A process that was killed may take a moment to disappear on a busy machine.
bool disappears(const std::string& pid) {
  const auto there = [&] {
    std::ifstream file("/proc/" + pid + "/cmdline");
    return file.get() != std::ifstream::traits_type::eof();
  };
  for (int i = 0; i < 1'000 && there(); ++i) system_clock().sleep(10ms, {});
  return !there();
}

TEST(Subprocess, ReturnsTheExitCodeAndBothOutputs) {
  const auto ended = run(shell("echo out; echo err >&2; exit 3"));
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->exit_code, 3);
  EXPECT_EQ(ended->out, "out\n");
  EXPECT_EQ(ended->err, "err\n");
  EXPECT_EQ(run(shell("kill -9 $$"))->exit_code, 128 + SIGKILL);
}

TEST(Subprocess, MergedErrorsKeepTheOrderOfPrinting) {
  Command command = shell("echo 1; echo 2 >&2; echo 3");
  command.merge_errors = true;
  const auto ended = run(command);
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->out, "1\n2\n3\n");
  EXPECT_EQ(ended->err, "");
}

TEST(Subprocess, PassesArgumentsWithoutAShell) {
  const auto ended = run({.argv = {"/usr/bin/printf", "%s|", "a b", "$HOME", ";ls"}});
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->out, "a b|$HOME|;ls|");
}

TEST(Subprocess, HasOnlyTheEnvironmentThatItIsGiven) {
  ::setenv("CANARY_OF_THE_TEST", "x", 1);
  const auto ended = run({.argv = {"/usr/bin/env"}, .env = {"ONLY=this"}});
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->out, "ONLY=this\n");
}

TEST(Subprocess, InheritsNoDescriptor) {
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd inheritable(::fcntl(null.get(), F_DUPFD, 57));
  ASSERT_GE(inheritable.get(), 57);
  const auto ended = run(shell("ls /proc/$$/fd | tr '\n' ' '"));
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->out.substr(0, 6), "0 1 2 ") << ended->out;
  EXPECT_EQ(ended->out.find(" " + std::to_string(inheritable.get()) + " "), std::string::npos)
      << ended->out;
}

TEST(Subprocess, StartsWithDefaultSignals) {
  std::thread([] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    const auto before = std::signal(SIGHUP, SIG_IGN);
    // Without 32 and 33: they belong to the C library, which lets no program change them.
    const auto ended =
        run(shell("while read name mask; do case $name in SigBlk:|SigIgn:) "
                  "echo $name $((0x$mask & ~0x180000000));; esac; done < /proc/self/status"));
    std::signal(SIGHUP, before);
    ASSERT_TRUE(ended) << ended.error().message;
    EXPECT_EQ(ended->out, "SigBlk: 0\nSigIgn: 0\n");
  }).join();
}

TEST(Subprocess, AProgramIsLookedUpInPath) {
  EXPECT_EQ(run({.argv = {"true"}})->exit_code, 0);
  EXPECT_TRUE(run({.argv = {"no-such-program-anywhere"}}).is(Code::kNotFound));
  EXPECT_TRUE(run({.argv = {"/nonexistent/program"}}).is(Code::kNotFound));
  EXPECT_TRUE(run({.argv = {"/etc/passwd"}}).is(Code::kInvalid));
  EXPECT_TRUE(run({.argv = {""}}).is(Code::kInvalid));
  EXPECT_TRUE(run({}).is(Code::kInvalid));
}

TEST(Subprocess, AGrandchildThatKeepsThePipeOpenDoesNotDelayTheEnd) {
  Command command = shell("sleep 3 & echo hi");
  command.timeout = 2500ms;
  const auto ended = run(command);
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->out, "hi\n");
}

TEST(Subprocess, LeftoversAreKilledOnlyOnRequest) {
  Command command = shell("sleep 1000 & echo $!");
  const auto leaves = run(command);
  ASSERT_TRUE(leaves) << leaves.error().message;
  const auto left = static_cast<pid_t>(std::atoi(leaves->out.c_str()));
  ASSERT_GT(left, 0);
  EXPECT_EQ(::kill(left, SIGKILL), 0) << "it did not survive";

  command.kill_leftovers = true;
  const auto cleans = run(command);
  ASSERT_TRUE(cleans) << cleans.error().message;
  EXPECT_TRUE(disappears(cleans->out.substr(0, cleans->out.size() - 1)));
}

TEST(Subprocess, TooMuchTimeOrOutputEndsTheWholeGroup) {
  Command slow = shell("sleep 1000 | sleep 1000");
  slow.timeout = 200ms;
  EXPECT_TRUE(run(slow).is(Code::kDeadline));
  Command endless = shell("yes");
  endless.max_output = 10'000;
  EXPECT_TRUE(run(endless).is(Code::kInvalid));
}

TEST(Subprocess, KeepsTheEndOfALongOutputOnRequest) {
  Command command = shell("i=0; while [ $i -lt 20000 ]; do echo line$i; i=$((i+1)); done");
  command.max_output = 64 << 10;
  command.keep_only_end = true;
  const auto ended = run(command);
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->out.size(), size_t{64} << 10);
  EXPECT_TRUE(ended->out.ends_with("line19999\n"));
}

TEST(Subprocess, AStopKillsAtOnceWithoutAGracePeriod) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(run(shell("trap '' TERM; sleep 1000"), stop.get_token()).is(Code::kCancelled));
}

TEST(Subprocess, AStopTerminatesThenKillsTheWholeGroup) {
  std::stop_source stop;
  std::string output;
  Command command =
      shell("trap 'echo asked' TERM; (trap '' TERM; exec sleep 1000) & echo $!; wait; sleep 1000");
  command.termination_grace = 300ms;
  command.on_output = [&](std::string_view piece) {
    output += piece;
    if (output.ends_with('\n')) stop.request_stop();
  };
  EXPECT_TRUE(run(command, stop.get_token()).is(Code::kCancelled));
  EXPECT_TRUE(output.ends_with("\nasked\n")) << output;
  EXPECT_TRUE(disappears(output.substr(0, output.find('\n'))));
}

TEST(Subprocess, IsStoppedWhileItMayNotRunAndLosesNothing) {
  int calls = 0;
  std::string output;
  Command command = shell("i=0; while [ $i -lt 20 ]; do echo $i; sleep 0.02; i=$((i+1)); done");
  command.on_output = [&](std::string_view piece) { output += piece; };
  command.may_run = [&] { return ++calls % 3 != 0; };
  const auto ended = run(command);
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->exit_code, 0);
  EXPECT_TRUE(output.starts_with("0\n1\n"));
  EXPECT_TRUE(output.ends_with("19\n"));
  EXPECT_EQ(output, ended->out);
}

TEST(Subprocess, CanBeStoppedForGoodWhileItMayNotRun) {
  std::stop_source stop;
  bool printed = false;
  Command command = shell("echo ready; sleep 1000");
  command.termination_grace = 2s;
  command.on_output = [&](std::string_view piece) { printed |= !piece.empty(); };
  command.may_run = [&] {
    if (printed) stop.request_stop();
    return !printed;
  };
  EXPECT_TRUE(run(command, stop.get_token()).is(Code::kCancelled));
}

TEST(Subprocess, ABackgroundProgramHasALowPriority) {
  Command command = shell("cut -d' ' -f19 /proc/self/stat");
  EXPECT_EQ(run(command)->out, std::to_string(::getpriority(PRIO_PROCESS, 0)) + "\n");
  command.background = true;
  EXPECT_EQ(run(command)->out, "15\n");
}

TEST(Subprocess, DiesWithUsOnRequest) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const pid_t runner = ::fork();
  ASSERT_GE(runner, 0);
  if (runner == 0) {
    Command command = shell("echo $$; sleep 1000");
    command.dies_with_us = true;
    command.on_output = [&](std::string_view piece) {
      (void)!::write(writer.get(), piece.data(), piece.size());
    };
    ::_exit(run(command) ? 0 : 1);
  }
  writer.reset();
  char pid[32] = {};
  ASSERT_GT(::read(reader.get(), pid, sizeof pid - 1), 0);
  ::kill(runner, SIGKILL);
  ::waitpid(runner, nullptr, 0);
  EXPECT_TRUE(disappears(std::to_string(std::atoi(pid))));
}

}  // namespace
}  // namespace paddle::os
