// SPDX-License-Identifier: Apache-2.0
//
// The runtime is killed under its readers; the node attaches the next one.

#include <atomic>
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
  // Reads random files with a cold page cache until told to stop.
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

TEST_F(KillTest, readers_do_not_notice_that_the_runtime_is_killed_or_told_to_stop) {
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

TEST_F(KillTest, a_warm_up_that_was_killed_is_finished_by_the_next) {
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

// What a kill leaves between the publication of a generation and the journal's word that the job
// has ended.
TEST_F(KillTest, jobs_that_had_their_effect_before_the_kill_have_it_no_second_time) {
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

TEST_F(KillTest, attaching_once_more_to_the_same_runtime_changes_nothing) {
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

TEST_F(KillTest, a_runtime_that_died_before_its_answer_came_is_followed_all_the_same) {
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

TEST_F(KillTest, a_later_mount_of_the_same_name_takes_the_place_of_the_earlier) {
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
