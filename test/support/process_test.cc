// SPDX-License-Identifier: Apache-2.0
#include "test/support/process.h"

#include <cstdlib>
#include <thread>

#include <gtest/gtest.h>
#include <signal.h>

#include "test/support/eventually.h"
#include "test/support/scratch_dir.h"

namespace paddle::test {
namespace {

Command shell(const std::string& script) {
  return {.argv = {"/bin/sh", "-c", script}, .env = clean_environment("/tmp")};
}

TEST(Process, GetsItsInputAndReturnsBothOutputsAndItsStatus) {
  const Ran ran = run(shell("cat; echo trouble >&2; exit 3"), "given");
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_EQ(ran.out, "given");
  EXPECT_EQ(ran.err, "trouble\n");
}

TEST(Process, SeesOnlyTheEnvironmentItIsGiven) {
  ::setenv("PADDLE_LEAK", "yes", 1);
  const Ran ran = run({.argv = {"/usr/bin/env"}, .env = {"ONLY=this"}});
  ::unsetenv("PADDLE_LEAK");
  EXPECT_EQ(ran.out, "ONLY=this\n");
}

TEST(Process, InheritsNoDescriptorButTheStandardOnes) {
  const ScratchDir scratch;
  FILE* const open = std::fopen((scratch.path() + "/held").c_str(), "w");  // without CLOEXEC
  ASSERT_NE(open, nullptr);
  const Ran ran = run(shell("ls -l /proc/self/fd"));
  std::fclose(open);
  EXPECT_EQ(ran.out.find("held"), std::string::npos) << ran.out;
}

TEST(Process, AMissingProgramIsAnErrorAtOnce) {
  const auto child = spawn({.argv = {"/nowhere/at/all"}});
  ASSERT_FALSE(child);
  EXPECT_NE(child.error().message.find("/nowhere/at/all"), std::string::npos);
  EXPECT_EQ(run({.argv = {"/nowhere/at/all"}}).exit_code, -1);
}

TEST(Process, AHangingProcessIsKilledWithItsWholeGroup) {
  const Ran ran = run(shell("sleep 1000 & echo $!; wait"), {}, std::chrono::milliseconds{300});
  EXPECT_EQ(ran.exit_code, 128 + SIGKILL);
  EXPECT_NE(ran.err.find("killed after 300 ms"), std::string::npos);
  const auto grandchild = static_cast<pid_t>(std::stol(ran.out));
  EXPECT_TRUE(eventually([&] { return !alive(grandchild); }));
}

TEST(Process, DiesWithTheThreadThatStartedIt) {
  pid_t child = 0;
  std::thread([&] { child = *spawn(shell("sleep 1000")); }).join();
  std::optional<Exit> ended;
  EXPECT_TRUE(eventually([&] { return (ended = poll_exit(child)).has_value(); }));
  EXPECT_EQ(ended, (Exit{.signal = SIGKILL}));
}

TEST(Process, LogsAreAppendedAndTailReadsTheirEnd) {
  const ScratchDir scratch;
  const std::string log = scratch.path() + "/log";
  for (const char* word : {"one", "two"}) {
    auto command = shell(std::string("echo ") + word + "; echo " + word + " >&2");
    command.log = log;
    const auto child = spawn(command);
    ASSERT_TRUE(child);
    ASSERT_TRUE(eventually([&] { return poll_exit(*child).has_value(); }));
  }
  EXPECT_EQ(read_file(log), "one\none\ntwo\ntwo\n");
  EXPECT_EQ(tail(log, 2), "two\ntwo\n");
  EXPECT_EQ(tail(log, 100), read_file(log));
  EXPECT_EQ(tail(log + "-absent", 3), "");
}

}  // namespace
}  // namespace paddle::test
