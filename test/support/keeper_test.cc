// SPDX-License-Identifier: Apache-2.0
#include "test/support/keeper.h"

#include <array>
#include <filesystem>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "test/support/eventually.h"

namespace paddle::test {
namespace {

namespace fs = std::filesystem;

// A shell with a child of its own in another session: the hardest kind to find again.
Result<pid_t> spawn_pair(Keeper& keeper) {
  const std::string script = "setsid sh -c 'echo $$ > stray; exec sleep 1000' & exec sleep 1000";
  return keeper.spawn({.argv = {"/bin/sh", "-c", script},
                       .env = clean_environment(keeper.directory()),
                       .directory = keeper.directory(),
                       .log = keeper.directory() + "/log"});
}

pid_t stray_of(const Keeper& keeper) {
  const std::string path = keeper.directory() + "/stray";
  EXPECT_TRUE(eventually([&] { return read_file(path).ends_with('\n'); }));
  return static_cast<pid_t>(std::stol(read_file(path)));
}

TEST(Keeper, EndsWithItsChildrenTheirStraysAndItsDirectories) {
  auto keeper = Keeper::start();
  ASSERT_TRUE(keeper) << keeper.error().message;
  const std::string directory = (*keeper)->directory();
  const auto scrap = (*keeper)->scrap_directory("/dev/shm");
  const auto child = spawn_pair(**keeper);
  ASSERT_TRUE(scrap && child);
  const pid_t stray = stray_of(**keeper);
  struct stat found {};
  ASSERT_EQ(::stat(directory.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0700U);

  keeper->reset();
  EXPECT_TRUE(!alive(*child));
  EXPECT_TRUE(!alive(stray));
  EXPECT_FALSE(fs::exists(directory));
  EXPECT_FALSE(fs::exists(*scrap));
}

TEST(Keeper, AFailedTestKeepsItsLogsAndNothingElse) {
  auto keeper = Keeper::start();
  ASSERT_TRUE(keeper);
  const std::string directory = (*keeper)->directory();
  const auto scrap = (*keeper)->scrap_directory("/dev/shm");
  ASSERT_TRUE(scrap);
  ASSERT_TRUE(write_file(directory + "/log", "why"));
  (*keeper)->keep_directory();
  keeper->reset();
  EXPECT_EQ(read_file(directory + "/log"), "why");
  EXPECT_FALSE(fs::exists(*scrap));
  fs::remove_all(directory);
}

TEST(Keeper, ReportsHowAChildEndedAndSignalsOnlyRunningOnes) {
  auto keeper = Keeper::start();
  ASSERT_TRUE(keeper);
  const auto child = spawn_pair(**keeper);
  ASSERT_TRUE(child);
  const auto alive = (*keeper)->status(*child);
  ASSERT_TRUE(alive);
  EXPECT_FALSE(*alive);
  ASSERT_TRUE((*keeper)->kill(*child));
  const auto ended = (*keeper)->status(*child);
  ASSERT_TRUE(ended && *ended);
  EXPECT_EQ(**ended, (Exit{.signal = SIGKILL}));
  EXPECT_TRUE((*keeper)->signal(*child, SIGTERM).is(Code::kNotFound));
  EXPECT_TRUE((*keeper)->signal(::getpid(), SIGTERM).is(Code::kNotFound)) << "not its child";
}

TEST(Keeper, ReportsWhyAProgramCannotBeStarted) {
  auto keeper = Keeper::start();
  ASSERT_TRUE(keeper);
  const auto child = (*keeper)->spawn({.argv = {"/nowhere"}});
  ASSERT_FALSE(child);
  EXPECT_NE(child.error().message.find("/nowhere"), std::string::npos);
}

TEST(Keeper, ItsOwnDeathKillsItsChildrenAndTheTestCleansUp) {
  auto keeper = Keeper::start();
  ASSERT_TRUE(keeper);
  const std::string directory = (*keeper)->directory();
  const auto child = (*keeper)->spawn({.argv = {"/bin/sleep", "1000"}, .log = directory + "/log"});
  ASSERT_TRUE(child);
  ::kill((*keeper)->pid(), SIGKILL);
  EXPECT_TRUE(eventually([&] { return !alive(*child); }));
  EXPECT_TRUE((*keeper)->spawn({.argv = {"/bin/true"}}).is(Code::kUnavailable));
  keeper->reset();
  EXPECT_FALSE(fs::exists(directory));
}

// What a dying test leaves for its parent to check.
struct Remains {
  pid_t keeper = 0;
  pid_t child = 0;
  pid_t stray = 0;
  std::array<char, 256> directory{};
};

// Forks a process that behaves like a test and ends with the given signal.
Remains die_by(int signal) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const pid_t test = ::fork();
  if (test == 0) {
    auto keeper = Keeper::start();
    Remains remains{.keeper = (*keeper)->pid(), .child = *spawn_pair(**keeper)};
    remains.stray = stray_of(**keeper);
    (*keeper)->directory().copy(remains.directory.data(), remains.directory.size() - 1);
    if (::write(ends[1], &remains, sizeof remains) < 0) ::_exit(1);
    ::signal(signal, SIG_DFL);
    ::kill(::getpid(), signal);
    ::_exit(1);
  }
  Remains remains;
  EXPECT_EQ(::read(ends[0], &remains, sizeof remains), static_cast<ssize_t>(sizeof remains));
  ::close(ends[0]);
  ::close(ends[1]);
  int status = 0;
  EXPECT_EQ(::waitpid(test, &status, 0), test);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal);
  return remains;
}

class KeeperOfACrash : public ::testing::TestWithParam<int> {};

TEST_P(KeeperOfACrash, LeavesNoProcessAndNoDirectory) {
  const Remains remains = die_by(GetParam());
  EXPECT_TRUE(eventually([&] { return !alive(remains.child) && !alive(remains.stray); }));
  EXPECT_TRUE(eventually([&] { return !fs::exists(remains.directory.data()); }));
  EXPECT_TRUE(eventually([&] { return !alive(remains.keeper); }));
}

INSTANTIATE_TEST_SUITE_P(BySignal, KeeperOfACrash,
                         ::testing::Values(SIGKILL, SIGABRT, SIGSEGV, SIGTERM));

}  // namespace
}  // namespace paddle::test
