// SPDX-License-Identifier: Apache-2.0
#include "controllers/runtime_poller/runtime_poller.h"

#include <set>

#include <gtest/gtest.h>

namespace paddle::controllers {
namespace {

using namespace std::chrono_literals;
using api::ObjectKey;

const ObjectKey kOwner{"train", "imagenet"};

std::vector<PolledRuntime> at(const std::vector<std::string>& addresses) {
  std::vector<PolledRuntime> all;
  for (const auto& each : addresses) all.push_back({"uid-" + each, {.address = each}});
  return all;
}

class Woken {
 public:
  RuntimePoller::Wake wake() {
    return [this](const ObjectKey& owner) {
      Lock lock(mutex_);
      keys_.insert(owner);
    };
  }
  bool has(const ObjectKey& key) EXCLUDES(mutex_) {
    Lock lock(mutex_);
    return keys_.contains(key);
  }

 private:
  Mutex mutex_;
  std::set<ObjectKey> keys_ GUARDED_BY(mutex_);
};

void until_true(const std::function<bool()>& condition) {
  while (!condition()) system_clock().sleep(1ms, {});
}

// One runtime never answers; its polls are kept until the end.
TEST(RuntimePoller, ARuntimeThatDoesNotAnswerDelaysNeitherCallersNorOthers) {
  Mutex mutex;
  std::vector<runtime::PollDone> unanswered;
  const auto polls = [&](const runtime::PollCall& call, const runtime::PollDone& done) {
    if (call.address != "dead") return done(runtime::PollReport{});
    Lock lock(mutex);
    unanswered.push_back(done);
  };
  Woken woken;
  {
    RuntimePoller poller(polls, woken.wake(), system_clock());
    poller.watch(kOwner, at({"dead", "alive"}), 1h);
    until_true([&] { return poller.find(kOwner, "uid-alive").has_value(); });
    until_true([&] { return woken.has(kOwner); });
    EXPECT_FALSE(poller.find(kOwner, "uid-dead"));
    poller.refresh("uid-alive");
    poller.watch(kOwner, at({"dead", "alive", "another"}), 1h);
    until_true([&] { return poller.find(kOwner, "uid-another").has_value(); });
    until_true([&] { return poller.find(kOwner, "uid-alive").has_value(); });
  }
  Lock lock(mutex);
  ASSERT_EQ(unanswered.size(), 1u);
  unanswered[0](runtime::PollReport{});  // after the poller is gone
}

TEST(RuntimePoller, PollsAgainAfterTheInterval) {
  std::atomic<int> polled = 0;
  const auto polls = [&](const runtime::PollCall&, const runtime::PollDone& done) {
    ++polled;
    done(runtime::PollReport{});
  };
  RuntimePoller poller(
      polls, [](const ObjectKey&) {}, system_clock());
  poller.watch(kOwner, at({"a"}), 5ms);
  until_true([&] { return polled >= 5; });
}

TEST(RuntimePoller, WithoutAThreadACallPollsWhatIsDue) {
  const ManualClock clock;
  int polled = 0;
  const auto polls = [&](const runtime::PollCall&, const runtime::PollDone& done) {
    ++polled;
    done(runtime::PollReport{});
  };
  RuntimePoller poller(
      polls, [](const ObjectKey&) {}, clock, false);
  poller.watch(kOwner, at({"a", "b"}), 5s);
  EXPECT_EQ(polled, 2);
  EXPECT_TRUE(poller.find(kOwner, "uid-b"));
  poller.watch(kOwner, at({"a", "b"}), 5s);
  EXPECT_EQ(polled, 2);
  poller.refresh("uid-a");
  poller.watch(kOwner, at({"a", "b"}), 5s);
  EXPECT_EQ(polled, 3);
}

}  // namespace
}  // namespace paddle::controllers
