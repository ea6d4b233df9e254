// SPDX-License-Identifier: Apache-2.0
//
// The runtime is killed under its readers; the node attaches the next one.

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>
#include <utility>

#include <poll.h>

#include "base/random.h"
#include "test/runtime/fixture.h"
#include "test/support/eventually.h"

namespace paddle::test {
namespace {

using runtime::JobKind;
using runtime::JobState;

class KillTest : public RuntimeTest {
 protected:
  // Reads random files with a cold page cache until it is stopped.
  void read_on(std::uint64_t seed, const std::stop_token& stop) {
    Random random(seed);
    std::vector<std::string> paths;
    for (const auto& [path, bytes] : truth_) paths.push_back(path);
    while (!stop.stop_requested()) {
      const std::string& path = paths[random.below(paths.size())];
      drop_page_cache(point_ / path);
      const Content content = read_all(point_ / path);
      if (content.error != 0) ++failed_;
      if (content.error == 0 && content.bytes != truth_.at(path)) ++wrong_;
      ++reads_;
    }
  }
  std::atomic<std::uint64_t> reads_{0}, failed_{0}, wrong_{0};
};

TEST_F(KillTest, ReadersDoNotNoticeThatTheRuntimeIsKilledOrStopped) {
  if (!why_no_mounts().empty()) GTEST_SKIP() << why_no_mounts();
  const std::string source = file_source(64);
  start(source);
  ASSERT_EQ(run_job("s", {.kind = JobKind::kSync}).state, JobState::kSucceeded);
  mount();
  attach();
  if (!attached_->agreed.can_resend()) {
    GTEST_SKIP() << "this kernel has no FUSE_NOTIFY_RESEND (Linux 6.9)";
  }
  {
    std::vector<std::jthread> readers;
    // A failed assertion must not leave a reader waiting for a server that does not come.
    struct LetGo {
      RuntimeTest& test;
      std::optional<fuse::Mounted>& mounted;
      ~LetGo() {
        if (testing::Test::HasFatalFailure()) mounted.reset();
      }
    };
    const LetGo last_resort{*this, mounted_};
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      readers.emplace_back([this, seed](const std::stop_token& stop) { read_on(seed, stop); });
    }
    for (int round = 0; round < 8; ++round) {
      const std::uint64_t before = reads_;
      ASSERT_TRUE(eventually([&] { return reads_ > before + 20; })) << "round " << round;
      if (round % 4 == 3) {
        EXPECT_EQ(stop(), (Exit{0, 0}));
      } else {
        kill();
      }
      pollfd told{attached_->link.get(), POLLIN, 0};
      ASSERT_EQ(::poll(&told, 1, 60'000), 1) << "the node is told";
      ASSERT_NO_FATAL_FAILURE(start(source));
      ASSERT_NO_FATAL_FAILURE(attach());
    }
    const std::uint64_t before = reads_;
    ASSERT_TRUE(eventually([&] { return reads_ > before + 20; }));
  }
  EXPECT_EQ(failed_, 0u);
  EXPECT_EQ(wrong_, 0u);
}

TEST_F(KillTest, TheNextProcessFinishesAKilledWarmUp) {
  const std::string source = file_source(200);
  start(source);
  ASSERT_EQ(run_job("s", {.kind = JobKind::kSync}).state, JobState::kSucceeded);
  ASSERT_TRUE(client_.put_job("w", {.kind = JobKind::kWarmup}));
  kill();
  start(source);
  runtime::JobReport report;
  EXPECT_TRUE(eventually([&] {
    if (const auto seen = client_.job("w")) report = *seen;
    return runtime::ended(report.state);
  }));
  EXPECT_EQ(report.state, JobState::kSucceeded) << report.error;
  EXPECT_EQ(client_.status()->cache.files, 200);
}

// A kill after a generation was published and before the journal records the end of the job.
TEST_F(KillTest, JobsHaveTheirEffectOnlyOnceAlsoAfterAKill) {
  const std::string source = file_source(10);
  start(source);
  ASSERT_EQ(run_job("s1", {.kind = JobKind::kSync}).state, JobState::kSucceeded);
  ASSERT_EQ(run_job("r", {.kind = JobKind::kRemove, .which = {.paths = {"class0"}}}).state,
            JobState::kSucceeded);
  EXPECT_EQ(client_.status()->index->files, 8);
  ASSERT_EQ(run_job("s2", {.kind = JobKind::kSync}).state, JobState::kSucceeded);
  const auto before = client_.status()->index;
  EXPECT_EQ(before->files, 10);
  kill();
  for (const char* id : {"s1", "r", "s2"}) {
    const std::string file = cache_ + "/jobs/" + id + ".json";
    std::string text = read_file(file);
    const std::size_t at = text.find("succeeded");
    ASSERT_NE(at, std::string::npos) << text;
    ASSERT_TRUE(write_file(file, text.replace(at, 9, "running")));
  }
  start(source);
  for (const char* id : {"s1", "r", "s2"}) {
    EXPECT_TRUE(eventually([&] { return client_.job(id)->state == JobState::kSucceeded; })) << id;
  }
  EXPECT_EQ(client_.status()->index, before);
}

class LivingMountTest : public KillTest {
 protected:
  static std::vector<std::string> names_in(const std::filesystem::path& directory) {
    std::vector<std::string> names;
    std::error_code failed;
    for (const auto& each : std::filesystem::directory_iterator(directory, failed)) {
      names.push_back(each.path().filename());
    }
    EXPECT_FALSE(failed) << failed.message();
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string in_source(const std::string& path) const {
    return scratch_.path() + "/source/" + path;
  }
  // Of the source: a name is new, one is gone, one has another content and size.
  void change_source() {
    truth_["class0/new.jpg"] = "new";
    truth_["class1/1.jpg"] = "changed";
    truth_["class7/first.jpg"] = "of a new directory";
    truth_.erase("class0/0.jpg");
    std::filesystem::remove(in_source("class0/0.jpg"));
    std::filesystem::create_directory(in_source("class7"));
    for (const char* path : {"class0/new.jpg", "class1/1.jpg", "class7/first.jpg"}) {
      ASSERT_TRUE(write_file(in_source(path), truth_[path]));
    }
  }
  // Lists, stats and reads: the kernel remembers all of it afterwards.
  void expect_truth() {
    std::map<std::string, std::vector<std::string>> wanted;
    for (const auto& [path, bytes] : truth_) {
      const std::size_t slash = path.find('/');
      wanted[path.substr(0, slash)].push_back(path.substr(slash + 1));
    }
    for (auto& [directory, names] : wanted) {
      std::sort(names.begin(), names.end());
      EXPECT_EQ(names_in(point_ / directory), names) << directory;
    }
    EXPECT_EQ(names_in(point_.path()).size(), wanted.size());
    for (const auto& [path, bytes] : truth_) {
      std::error_code failed;
      EXPECT_EQ(std::filesystem::file_size(point_ / path, failed), bytes.size()) << path;
      EXPECT_TRUE(read_all(point_ / path).bytes == bytes) << path;  // too long to be shown
    }
  }
  static constexpr const char* kGone = "class0/0.jpg";
  static constexpr const char* kNew = "class0/new.jpg";
};

TEST_F(LivingMountTest,
       a_generation_that_its_runtime_did_not_live_to_announce_is_seen_all_the_same) {
  if (!why_no_mounts().empty()) GTEST_SKIP() << why_no_mounts();
  const std::string source = file_source(10);
  start_to_die_after("/index.2", source);
  ASSERT_EQ(run_job("s1", {.kind = JobKind::kSync}).state, JobState::kSucceeded);
  mount();
  attach();
  expect_truth();
  EXPECT_FALSE(std::filesystem::exists(point_ / kNew));
  change_source();
  ASSERT_TRUE(
      client_.put_job("s2", {.kind = JobKind::kSync, .sync = {.delete_destination = true}}));
  wait_until_dead();
  EXPECT_TRUE(std::filesystem::exists(cache_ + "/index.2"));
  start(source);
  attach();
  ASSERT_TRUE(eventually([&] { return client_.job("s2")->state == JobState::kSucceeded; }));
  EXPECT_EQ(client_.status()->index->generation, 2) << "it was published before the kill";
  EXPECT_FALSE(std::filesystem::exists(point_ / kGone));
  expect_truth();
}

TEST_F(LivingMountTest, AMountShowsWhatWasPublishedWhileItHadNoServer) {
  if (!why_no_mounts().empty()) GTEST_SKIP() << why_no_mounts();
  const std::string source = file_source(10);
  start(source);
  ASSERT_EQ(run_job("s1", {.kind = JobKind::kSync}).state, JobState::kSucceeded);
  mount();
  attach();
  expect_truth();
  kill();
  start(source);
  change_source();
  ASSERT_EQ(run_job("s2", {.kind = JobKind::kSync, .sync = {.delete_destination = true}}).state,
            JobState::kSucceeded);
  // Two generations later the one that the mount knows is on no disk any more.
  ASSERT_EQ(run_job("r1", {.kind = JobKind::kRemove, .which = {.paths = {"class2/2.jpg"}}}).state,
            JobState::kSucceeded);
  ASSERT_EQ(run_job("r2", {.kind = JobKind::kRemove, .which = {.paths = {"class3/3.jpg"}}}).state,
            JobState::kSucceeded);
  truth_.erase("class2/2.jpg");
  truth_.erase("class3/3.jpg");
  kill();
  start(source);
  attach();
  expect_truth();
}

TEST_F(KillTest, AttachingAgainToTheSameRuntimeChangesNothing) {
  if (!why_no_mounts().empty()) GTEST_SKIP() << why_no_mounts();
  start(file_source(5));
  ASSERT_EQ(run_job("s", {.kind = JobKind::kSync}).state, JobState::kSucceeded);
  mount();
  attach();
  const fuse::Negotiated agreed = attached_->agreed;
  attached_.reset();  // as if the answer had been lost
  attach();
  EXPECT_EQ(attached_->agreed, agreed);
  EXPECT_EQ(client_.status()->mounts, 1);
  EXPECT_EQ(read_all(point_ / "class1/1.jpg").bytes, truth_.at("class1/1.jpg"));
}

TEST_F(KillTest, ARuntimeThatEndedBeforeItsReplyHasASuccessor) {
  if (!why_no_mounts().empty()) GTEST_SKIP() << why_no_mounts();
  const std::string source = file_source(5);
  start(source);
  ASSERT_EQ(run_job("s", {.kind = JobKind::kSync}).state, JobState::kSucceeded);
  mount();
  attach();
  attached_.reset();  // the node never heard what was agreed on
  kill();
  start(source);
  attach();
  EXPECT_EQ(read_all(point_ / "class1/1.jpg").bytes, truth_.at("class1/1.jpg"));
}

TEST_F(KillTest, ALaterMountOfTheSameNameReplacesTheEarlier) {
  if (!why_no_mounts().empty()) GTEST_SKIP() << why_no_mounts();
  start(file_source(5));
  ASSERT_EQ(run_job("s", {.kind = JobKind::kSync}).state, JobState::kSucceeded);
  mount();
  attach();
  const auto first = std::exchange(attached_, std::nullopt);
  const MountPoint elsewhere;
  auto second = fuse::mount_data(elsewhere.path(), {});
  ASSERT_TRUE(second) << second.error().message;
  const auto again =
      fuse::attach(session_, "test-set", {second->channel.get()}, {}, std::chrono::seconds{30});
  ASSERT_TRUE(again) << again.error().message;
  pollfd told{first->link.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&told, 1, 60'000), 1) << "the node is told that the first is served no longer";
  EXPECT_EQ(client_.status()->mounts, 1);
  EXPECT_EQ(read_all(elsewhere / "class1/1.jpg").bytes, truth_.at("class1/1.jpg"));
  const auto other = fuse::attach(session_, "other-name", {mounted_->channel.get()}, first->agreed,
                                  std::chrono::seconds{30});
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(client_.status()->mounts, 2) << "two names are served beside each other";
  EXPECT_EQ(read_all(point_ / "class2/2.jpg").bytes, truth_.at("class2/2.jpg"));
}

}  // namespace
}  // namespace paddle::test
