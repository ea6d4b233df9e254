// SPDX-License-Identifier: Apache-2.0
#include "controllers/runtime_poller/poll_state.h"

#include <algorithm>
#include <queue>

#include <gtest/gtest.h>

namespace paddle::controllers {
namespace {

using namespace std::chrono_literals;
using api::ObjectKey;
using runtime::JobState;

const ObjectKey kOne{"train", "one"};
const ObjectKey kTwo{"train", "two"};

PolledRuntime polled(const std::string& uid, std::vector<std::string> jobs = {}) {
  return {uid, {.address = "10.0.0.1", .access = {.token = "t"}, .jobs = std::move(jobs)}};
}

runtime::PollReport running(const std::vector<std::string>& ids, std::int64_t bytes = 0) {
  runtime::PollReport report{.jobs = std::vector<runtime::JobReport>{}};
  for (const std::string& id : ids) {
    report.jobs->push_back(
        {.id = id, .state = JobState::kRunning, .progress = {.bytes_done = bytes}});
  }
  return report;
}

const Error kSilence{Code::kUnavailable, "cannot connect in time"};

struct PollStateTest : ::testing::Test {
  PollState state{};
  BootTime now{std::chrono::hours{1}};

  // Everything that is due is answered with this.
  std::vector<ObjectKey> answer(const Result<runtime::PollReport>& report) {
    std::vector<ObjectKey> woken;
    for (const auto& poll : state.take_due(now)) {
      for (const auto& owner : state.finished(poll, report, now)) woken.push_back(owner);
    }
    return woken;
  }
};

using Keys = std::vector<ObjectKey>;

TEST_F(PollStateTest, ARuntimeIsAskedOnceForAllOfItsOwners) {
  state.watch(kOne, {polled("a", {"job-1"})}, 5s, now);
  state.watch(kTwo, {polled("a", {"job-2"})}, 2s, now);
  const auto polls = state.take_due(now);
  ASSERT_EQ(polls.size(), 1u);
  EXPECT_EQ(polls[0].call.jobs, (std::vector<std::string>{"job-1", "job-2"}));
  EXPECT_TRUE(state.take_due(now + 50s).empty()) << "one poll at a time";
  EXPECT_FALSE(state.find(kOne, "a", now));
  EXPECT_EQ(state.finished(polls[0], running({"job-1"}), now), (Keys{kOne, kTwo}));
  EXPECT_TRUE(find_job(*state.find(kOne, "a", now), "job-1"));
  EXPECT_FALSE(find_job(*state.find(kTwo, "a", now), "job-2"));
  EXPECT_EQ(state.next_due(), now + 2s) << "the shortest interval";
}

TEST_F(PollStateTest, AnAnswerToFewerJobsThanAreWantedDoesNotCount) {
  state.watch(kOne, {polled("a")}, 5s, now);
  EXPECT_EQ(answer(running({})), Keys{kOne});
  state.watch(kOne, {polled("a", {"job-1"})}, 5s, now);
  EXPECT_FALSE(state.find(kOne, "a", now));
  EXPECT_EQ(answer(running({"job-1"})), Keys{kOne}) << "asked at once";
  EXPECT_TRUE(state.find(kOne, "a", now));
  // Wanted while a poll is in progress: asked again at once when it ends.
  now += 5s;
  const auto polls = state.take_due(now);
  state.watch(kOne, {polled("a", {"job-1", "job-2"})}, 5s, now);
  EXPECT_TRUE(state.finished(polls.at(0), running({"job-1"}), now).empty());
  EXPECT_FALSE(state.find(kOne, "a", now));
  EXPECT_EQ(answer(running({"job-1", "job-2"})), Keys{kOne});
}

TEST_F(PollStateTest, AnAnswerToAPollThatBeganBeforeAChangeDoesNotCount) {
  state.watch(kOne, {polled("a", {"job-1"})}, 5s, now);
  (void)answer(running({}));
  state.refresh("a");
  EXPECT_FALSE(state.find(kOne, "a", now));
  const auto polls = state.take_due(now);
  ASSERT_EQ(polls.size(), 1u);
  state.refresh("a");  // another job was sent meanwhile
  EXPECT_TRUE(state.finished(polls[0], running({}), now).empty());
  EXPECT_FALSE(state.find(kOne, "a", now));
  EXPECT_EQ(answer(running({"job-1"})), Keys{kOne});
  EXPECT_TRUE(find_job(*state.find(kOne, "a", now), "job-1"));
}

TEST_F(PollStateTest, OnlyWhatMayChangeADecisionWakesAnOwner) {
  state.watch(kOne, {polled("a", {"job-1"})}, 5s, now);
  (void)answer(running({"job-1"}));
  const auto next = [&](const Result<runtime::PollReport>& report) {
    now += 5s;
    state.watch(kOne, {polled("a", {"job-1"})}, 5s, now);
    return !answer(report).empty();
  };
  EXPECT_FALSE(next(running({"job-1"}, 1000))) << "progress";
  EXPECT_EQ(find_job(*state.find(kOne, "a", now), "job-1")->progress.bytes_done, 1000);
  auto ended = running({"job-1"}, 2000);
  ended.jobs->front().state = JobState::kSucceeded;
  EXPECT_TRUE(next(ended));
  EXPECT_FALSE(next(ended));
  ended.status.index = runtime::IndexReport{.generation = 2};
  EXPECT_TRUE(next(ended));
  EXPECT_TRUE(next(kSilence));
  EXPECT_FALSE(next(kSilence));
  EXPECT_TRUE(next(ended));
  EXPECT_TRUE(next(running({}))) << "it has lost the job";
}

TEST_F(PollStateTest, ASilentRuntimeIsAskedMoreOftenAndCountsFromItsLastAnswer) {
  state.watch(kOne, {polled("a")}, 5s, now);
  (void)answer(running({}));
  const BootTime last = now;
  now = *state.next_due();
  EXPECT_EQ(now, last + 5s);
  const auto polls = state.take_due(now);
  now += 3s;
  EXPECT_EQ(state.finished(polls.at(0), kSilence, now), Keys{kOne});
  EXPECT_EQ(state.next_due(), now + engine::kPollRetryInterval);
  EXPECT_EQ(state.find(kOne, "a", now)->unreachable_for, 8s);
  EXPECT_EQ(state.find(kOne, "a", now + 2s)->unreachable_for, 10s);
  state.watch(kOne, {polled("a", {"job-1"})}, 5s, now);
  EXPECT_EQ(state.find(kOne, "a", now)->error->message, kSilence.message) << "no pass waits for it";
  EXPECT_TRUE(state.take_due(now).empty());
}

TEST_F(PollStateTest, OtherCredentialsAreTriedAtOnce) {
  state.watch(kOne, {polled("a")}, 5s, now);
  (void)answer(Error{Code::kUnauthorized, "wrong token"});
  auto renewed = polled("a");
  renewed.call.access.token = "another";
  state.watch(kOne, {renewed}, 5s, now);
  const auto polls = state.take_due(now);
  ASSERT_EQ(polls.size(), 1u);
  EXPECT_EQ(polls[0].call.access.token, "another");
}

TEST_F(PollStateTest, KeepsNothingOfOwnersAndRuntimesThatAreGone) {
  state.watch(kOne, {polled("a"), polled("b")}, 5s, now);
  state.watch(kTwo, {polled("b")}, 5s, now);
  (void)answer(running({}));
  state.watch(kOne, {polled("b")}, 5s, now);  // pod a was replaced
  EXPECT_EQ(state.runtimes(), 1u);
  state.forget(kOne);
  EXPECT_EQ(state.runtimes(), 1u);
  const auto polls = state.take_due(now + 5s);
  state.watch(kTwo, {}, 5s, now);
  EXPECT_EQ(state.runtimes(), 0u);
  EXPECT_TRUE(state.finished(polls.at(0), running({}), now + 5s).empty());
  EXPECT_EQ(state.in_progress(), 0u);
  // One whose controller no longer runs.
  state.watch(kOne, {polled("a")}, 5s, now);
  EXPECT_EQ(state.take_due(now).size(), 1u);
  EXPECT_TRUE(state.take_due(now + engine::kPollOwnerExpiry).empty());
  EXPECT_EQ(state.runtimes(), 0u);
  EXPECT_FALSE(state.next_due());
}

TEST_F(PollStateTest, NoMoreThanAllowedAreAskedAtTheSameTime) {
  std::vector<PolledRuntime> many;
  for (std::size_t i = 0; i < kMostPollsAtOnce + 10; ++i) many.push_back(polled(std::to_string(i)));
  state.watch(kOne, many, 5s, now);
  const auto polls = state.take_due(now);
  EXPECT_EQ(polls.size(), kMostPollsAtOnce);
  EXPECT_FALSE(state.next_due());
  (void)state.finished(polls[0], running({}), now);
  EXPECT_EQ(state.take_due(now).size(), 1u);
}

// Simulated time: 40 sets have a runtime on a node that dies, 200 others have not. Every runtime is
// asked every 5 s; one that is dead costs the connect timeout of 3 s.
TEST_F(PollStateTest, ADeadNodeWithFortySetsDelaysNoPollOfTheOthers) {
  constexpr int kDead = 40, kSets = 240, kPartitions = 4;
  constexpr auto kRoundTrip = 20ms;
  const auto uid_of = [](int set, int partition) {
    return std::to_string(set) + "/" + std::to_string(partition);
  };
  const auto key_of = [](int set) { return ObjectKey{"train", std::to_string(set)}; };
  for (int set = 0; set < kSets; ++set) {
    std::vector<PolledRuntime> runtimes;
    for (int i = 0; i < kPartitions; ++i) runtimes.push_back(polled(uid_of(set, i)));
    state.watch(key_of(set), runtimes, 5s, now);
  }
  struct End {
    BootTime at{};
    PollState::Poll poll{};
    bool dead = false;
    bool operator>(const End& other) const { return at > other.at; }
  };
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  std::map<std::string, BootTime> begun;
  const BootTime death = now + 20s, stop = now + 50s;
  std::chrono::nanoseconds longest_gap{0}, latest_notice{0};
  std::size_t most = 0;
  int noticed = 0;
  while (now < stop) {
    for (const auto& poll : state.take_due(now)) {
      const int set = std::stoi(poll.uid);
      const bool dead = now >= death && set < kDead && poll.uid.ends_with("/0");
      if (!dead && begun.contains(poll.uid)) {
        longest_gap = std::max<std::chrono::nanoseconds>(longest_gap, now - begun[poll.uid]);
      }
      begun[poll.uid] = now;
      ends.push({now + (dead ? std::chrono::nanoseconds(3s) : kRoundTrip), poll, dead});
    }
    most = std::max(most, ends.size());
    BootTime next = stop;
    if (!ends.empty()) next = std::min(next, ends.top().at);
    if (const auto due = state.next_due()) next = std::min(next, *due);
    now = std::max(now, next);
    while (!ends.empty() && ends.top().at <= now) {
      const End end = ends.top();
      ends.pop();
      const auto woken = state.finished(
          end.poll, end.dead ? Result<runtime::PollReport>(kSilence) : running({}), now);
      if (!end.dead || woken.empty()) continue;
      ++noticed;
      latest_notice = std::max<std::chrono::nanoseconds>(latest_notice, now - death);
    }
  }
  EXPECT_EQ(noticed, kDead) << "each owner is woken once";
  // The set is Degraded when its runtime has been silent for 10 s: within 15 s.
  EXPECT_LE(latest_notice, 9s);
  EXPECT_LE(longest_gap, 5s + 100ms);
  EXPECT_LE(most, kMostPollsAtOnce);
  for (int set = 0; set < kDead; ++set) {
    EXPECT_GE(state.find(key_of(set), uid_of(set, 0), death + 10s)->unreachable_for, 10s);
    EXPECT_FALSE(state.find(key_of(set), uid_of(set, 1), now)->error);
  }
}

}  // namespace
}  // namespace paddle::controllers
