// SPDX-License-Identifier: Apache-2.0
#include "runtime/server/job_runner.h"

#include <filesystem>
#include <functional>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/scratch.h"
#include "runtime/server/fake_engine.h"

namespace paddle::runtime {
namespace {

class JobRunnerTest : public testing::Test {
 protected:
  JobRunnerTest() {
    log::set_level(log::Level::kError);
    start();
  }
  ~JobRunnerTest() override {
    jobs_.reset();
    log::set_level(log::Level::kInfo);
  }
  void start() { jobs_ = *JobRunner::start(*Journal::open(scratch_.path() + "/jobs"), engine_); }
  JobState state(const std::string& id) {
    const auto report = jobs_->find(id);
    EXPECT_TRUE(report) << id;
    return report ? report->state : JobState::kQueued;
  }
  void wait_for(const std::function<bool()>& condition) {
    for (int i = 0; i < 20'000 && !condition(); ++i) {
      system_clock().sleep(std::chrono::milliseconds{1}, {});
    }
    ASSERT_TRUE(condition());
  }

  const Scratch scratch_;
  FakeEngine engine_;
  std::unique_ptr<JobRunner> jobs_;
};

TEST_F(JobRunnerTest, RunsAJobOnTheEngineAndReportsItsProgress) {
  ASSERT_TRUE(
      jobs_->put("w", {.kind = JobKind::kWarmup, .which = {.partition = 1, .partitions = 4}}));
  wait_for([&] { return state("w") == JobState::kSucceeded; });
  EXPECT_EQ(engine_.calls(), std::vector<std::string>{"warm_up 1/4"});
  EXPECT_EQ(jobs_->find("w")->progress.files_done, 1);
  ASSERT_TRUE(
      jobs_->put("w", {.kind = JobKind::kWarmup, .which = {.partition = 1, .partitions = 4}}));
  EXPECT_EQ(engine_.calls().size(), 1u);
}

TEST_F(JobRunnerTest, RunsEveryKindOfJob) {
  for (const JobKind kind : api::kJobKinds) {
    ASSERT_TRUE(jobs_->put(to_string(kind), {.kind = kind}));
    wait_for([&] { return state(to_string(kind)) == JobState::kSucceeded; });
  }
}

TEST_F(JobRunnerTest, APartThatIsTriedAgainBelongsToTheSameDivision) {
  engine::SyncTask part{.part = 1, .parts = 3, .lists_at = "first:7716"};
  ASSERT_TRUE(jobs_->put("sync.1", {.kind = JobKind::kSync, .sync = part}));
  part.division = "sync.1";
  ASSERT_TRUE(jobs_->put("sync.1.r1", {.kind = JobKind::kSync, .sync = part}));
  wait_for([&] { return state("sync.1.r1") == JobState::kSucceeded; });
  EXPECT_EQ(engine_.calls(),
            (std::vector<std::string>{"sync part of sync.1", "sync part of sync.1"}));
}

TEST_F(JobRunnerTest, AFailedJobKeepsItsErrorMessage) {
  engine_.release(Error{Code::kForbidden, "wrong keys: put the right ones into the Secret"});
  ASSERT_TRUE(jobs_->put("s", {.kind = JobKind::kSync}));
  wait_for([&] { return state("s") == JobState::kFailed; });
  EXPECT_EQ(jobs_->find("s")->error, "wrong keys: put the right ones into the Secret");
}

TEST_F(JobRunnerTest, JobsOfOneKindWaitForEachOtherAndNotForOtherKinds) {
  engine_.block();
  ASSERT_TRUE(jobs_->put("s1", {.kind = JobKind::kSync}));
  ASSERT_TRUE(jobs_->put("s2", {.kind = JobKind::kSync}));
  ASSERT_TRUE(jobs_->put("c", {.kind = JobKind::kClear}));
  ASSERT_TRUE(jobs_->put("w", {.kind = JobKind::kWarmup}));
  ASSERT_TRUE(jobs_->put("r", {.kind = JobKind::kRemove}));
  wait_for([&] { return engine_.calls().size() == 3; });
  EXPECT_EQ(state("s2"), JobState::kQueued);
  EXPECT_EQ(state("r"), JobState::kQueued) << "a removal changes the set, too";
  engine_.release();
  wait_for([&] { return state("r") == JobState::kSucceeded; });
  EXPECT_EQ(state("s2"), JobState::kSucceeded);
}

TEST_F(JobRunnerTest, RunningAndQueuedJobsCanBeCancelled) {
  engine_.block();
  ASSERT_TRUE(jobs_->put("s1", {.kind = JobKind::kSync}));
  ASSERT_TRUE(jobs_->put("s2", {.kind = JobKind::kSync}));
  wait_for([&] { return state("s1") == JobState::kRunning; });
  jobs_->cancel("s2");
  EXPECT_EQ(state("s2"), JobState::kCancelled);
  jobs_->cancel("s1");
  wait_for([&] { return state("s1") == JobState::kCancelled; });
  EXPECT_EQ(engine_.calls().size(), 1u);
  jobs_->cancel("unknown");
}

TEST_F(JobRunnerTest, ARestartRunsAgainOnlyWhatWasRunning) {
  ASSERT_TRUE(jobs_->put("done", {.kind = JobKind::kClear}));
  wait_for([&] { return state("done") == JobState::kSucceeded; });
  engine_.block();
  ASSERT_TRUE(jobs_->put("s1", {.kind = JobKind::kSync}));
  ASSERT_TRUE(jobs_->put("s2", {.kind = JobKind::kSync}));
  wait_for([&] { return engine_.calls().size() == 2; });
  jobs_.reset();
  engine_.release();
  start();
  wait_for([&] { return state("s2") == JobState::kSucceeded; });
  EXPECT_EQ(state("s1"), JobState::kSucceeded);
  EXPECT_EQ(engine_.calls(), (std::vector<std::string>{"clear", "sync", "sync", "sync"}));
}

TEST_F(JobRunnerTest, AJobThatCannotBeStoredIsForgottenAndMayBePutLater) {
  const std::string in_the_way = scratch_.path() + "/jobs/w.json.tmp";
  std::filesystem::create_directory(in_the_way);
  EXPECT_TRUE(jobs_->put("w", {.kind = JobKind::kWarmup}).is(Code::kUnavailable));
  EXPECT_FALSE(jobs_->find("w"));
  std::filesystem::remove(in_the_way);
  ASSERT_TRUE(jobs_->put("w", {.kind = JobKind::kWarmup}));
  wait_for([&] { return state("w") == JobState::kSucceeded; });
  EXPECT_EQ(engine_.calls().size(), 1u);
}

TEST_F(JobRunnerTest, ACancellationSurvivesAKill) {
  engine_.block();
  ASSERT_TRUE(jobs_->put("s", {.kind = JobKind::kSync}));
  wait_for([&] { return engine_.calls().size() == 1; });
  engine_.ignore_stop();
  jobs_->cancel("s");
  const std::string copy = scratch_.path() + "/as-it-was";  // the journal that a kill leaves
  std::filesystem::copy(scratch_.path() + "/jobs", copy);
  engine_.release();
  wait_for([&] { return state("s") == JobState::kSucceeded; });

  jobs_ = *JobRunner::start(*Journal::open(copy), engine_);
  EXPECT_EQ(state("s"), JobState::kCancelled);
  EXPECT_EQ(engine_.calls().size(), 1u);
}

// With keys it is not in the journal, and its caller sends it again.
TEST_F(JobRunnerTest, AJobDuringWhichItsRuntimeIsKilledAgainAndAgainFails) {
  for (const bool keys : {false, true}) {
    JobRequest request{.kind = JobKind::kSync};
    if (keys) request.sync.keys.values["secret-key"] = "canary";
    const std::string id = keys ? "with-keys" : "without";
    const auto before = engine_.calls().size();
    constexpr auto kMost = static_cast<std::size_t>(JobRunner::kMostKills);
    std::string journal = scratch_.path() + "/" + id;
    jobs_ = *JobRunner::start(*Journal::open(journal), engine_);
    engine_.block();
    for (std::size_t kills = 0; kills < kMost; ++kills) {
      ASSERT_TRUE(jobs_->put(id, request));
      wait_for([&] { return engine_.calls().size() == before + kills + 1; });
      const std::string copy = scratch_.path() + "/" + id + "-" + std::to_string(kills);
      std::filesystem::copy(journal, copy);  // what a kill leaves
      journal = copy;
      jobs_ = *JobRunner::start(*Journal::open(journal), engine_);
    }
    ASSERT_TRUE(jobs_->put(id, request));
    wait_for([&] { return state(id) == JobState::kFailed; });
    EXPECT_NE(jobs_->find(id)->error.find("killed 8 times"), std::string::npos)
        << jobs_->find(id)->error;
    EXPECT_EQ(engine_.calls().size(), before + kMost);
    engine_.release();
    EXPECT_FALSE(std::filesystem::exists(journal + "/" + id + ".starts"));
    ASSERT_TRUE(jobs_->put("another", {.kind = JobKind::kSync}));
    wait_for([&] { return state("another") == JobState::kSucceeded; });
  }
}

TEST_F(JobRunnerTest, AnOrderlyEndOfTheRuntimeIsNoKill) {
  engine_.block();
  ASSERT_TRUE(jobs_->put("s", {.kind = JobKind::kSync}));
  for (int stops = 0; stops < JobRunner::kMostKills + 2; ++stops) {
    wait_for([&] { return engine_.calls().size() == static_cast<std::size_t>(stops) + 1; });
    jobs_.reset();
    start();
  }
  engine_.release();
  wait_for([&] { return state("s") == JobState::kSucceeded; });
}

TEST_F(JobRunnerTest, AJobCancelledDuringShutdownIsNotRunByTheNextProcess) {
  engine_.block();
  ASSERT_TRUE(jobs_->put("s", {.kind = JobKind::kSync}));
  wait_for([&] { return engine_.calls().size() == 1; });
  engine_.ignore_stop();
  jobs_->cancel("s");
  std::jthread hears([&] { engine_.release(Error{Code::kCancelled, "stopped"}); });
  jobs_.reset();
  hears.join();
  engine_.release();
  start();
  EXPECT_EQ(state("s"), JobState::kCancelled);
  EXPECT_EQ(engine_.calls().size(), 1u);
}

TEST_F(JobRunnerTest, AJobWithKeysIsNotStoredAndForgottenByARestart) {
  const JobRequest request{.sync = {.keys = {{{"secret-key", "canary"}}}}};
  ASSERT_TRUE(jobs_->put("a", request));
  wait_for([&] { return state("a") == JobState::kSucceeded; });
  EXPECT_TRUE(std::filesystem::is_empty(scratch_.path() + "/jobs"));
  jobs_.reset();
  start();
  EXPECT_FALSE(jobs_->find("a"));
}

TEST_F(JobRunnerTest, AnIdBelongsToItsFirstRequest) {
  ASSERT_TRUE(jobs_->put("a", {.kind = JobKind::kSync}));
  EXPECT_TRUE(jobs_->put("a", {.kind = JobKind::kClear}).is(Code::kConflict));
  EXPECT_EQ(jobs_->all().size(), 1u);
  EXPECT_FALSE(jobs_->find("b"));
}

}  // namespace
}  // namespace paddle::runtime
