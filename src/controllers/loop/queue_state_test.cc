// SPDX-License-Identifier: Apache-2.0
#include "controllers/loop/queue_state.h"

#include <random>

#include <gtest/gtest.h>

namespace paddle::controllers {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

const BootTime kStart{std::chrono::hours{1}};
const ObjectKey kA{"ns", "a"}, kB{"ns", "b"}, kC{"ns", "c"};

std::string taken_name(QueueState& queue, BootTime now) {
  const auto taken = queue.take(now);
  return taken ? taken->key.name : "";
}

TEST(QueueState, HandsOutKeysInTheOrderInWhichTheyWereAdded) {
  QueueState queue;
  for (const auto& key : {kB, kA, kC}) queue.add(key, kStart);
  EXPECT_EQ(taken_name(queue, kStart), "b");
  EXPECT_EQ(taken_name(queue, kStart), "a");
  EXPECT_EQ(taken_name(queue, kStart), "c");
  EXPECT_EQ(taken_name(queue, kStart), "");
}

TEST(QueueState, AKeyAddedManyTimesIsHandedOutOnce) {
  QueueState queue;
  for (int i = 0; i < 100; ++i) queue.add(kA, kStart);
  EXPECT_EQ(queue.depth(), 1u);
  EXPECT_EQ(taken_name(queue, kStart), "a");
  EXPECT_EQ(taken_name(queue, kStart), "");
}

TEST(QueueState, AKeyAddedWhileInProgressIsHandedOutAgain) {
  QueueState queue;
  queue.add(kA, kStart);
  ASSERT_EQ(taken_name(queue, kStart), "a");
  for (int i = 0; i < 3; ++i) queue.add(kA, kStart);
  EXPECT_EQ(taken_name(queue, kStart), "") << "two workers on one key";
  queue.finished(kA, kStart);
  EXPECT_EQ(taken_name(queue, kStart), "a");
  queue.finished(kA, kStart);
  EXPECT_EQ(taken_name(queue, kStart), "");
  EXPECT_EQ(queue.entries(), 0u);
}

TEST(QueueState, TheEarliestTimeWins) {
  QueueState queue;
  queue.add_at(kA, kStart + seconds{9}, kStart);
  queue.add_at(kA, kStart + seconds{3}, kStart);
  queue.add_at(kA, kStart + seconds{5}, kStart);
  EXPECT_EQ(queue.delayed(), 1u);
  EXPECT_EQ(queue.next_due(), kStart + seconds{3});
  EXPECT_EQ(taken_name(queue, kStart + seconds{3} - nanoseconds{1}), "");
  EXPECT_EQ(taken_name(queue, kStart + seconds{3}), "a");
  queue.finished(kA, kStart + seconds{3});
  EXPECT_EQ(taken_name(queue, kStart + minutes{9}), "") << "the later ones are gone";
}

TEST(QueueState, DueKeysAreHandedOutInTheOrderOfTheirTimes) {
  QueueState queue;
  queue.add_at(kA, kStart + seconds{3}, kStart);
  queue.add_at(kB, kStart + seconds{1}, kStart);
  queue.add_at(kC, kStart + seconds{2}, kStart);
  const auto late = kStart + seconds{60};
  EXPECT_EQ(taken_name(queue, late), "b");
  EXPECT_EQ(taken_name(queue, late), "c");
  EXPECT_EQ(taken_name(queue, late), "a");
}

TEST(QueueState, TheWaitIsCountedFromTheMomentAKeyWasDue) {
  QueueState queue;
  queue.add_at(kA, kStart + seconds{3}, kStart);
  EXPECT_EQ(queue.take(kStart + seconds{10})->waited, seconds{7});
}

TEST(QueueState, PausesDoubleUpToTheLongestAndASuccessResetsThem) {
  const QueueLimits limits{.jitter = 0};
  QueueState queue(limits);
  auto now = kStart;
  nanoseconds expected = limits.first_pause;
  for (int failures = 0; failures < 100; ++failures) {
    queue.add(kA, now);
    auto due = queue.next_due();
    now = due ? *due : now;
    const auto taken = queue.take(now);
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->failures, failures);
    EXPECT_EQ(queue.failed(kA, now, 0.5), expected);
    expected = std::min(expected * 2, limits.longest_pause);
    now += minutes{6};
  }
  EXPECT_EQ(expected, limits.longest_pause);
  ASSERT_TRUE(queue.take(now));
  queue.finished(kA, now);
  EXPECT_EQ(queue.entries(), 0u);
  queue.add(kA, now);
  EXPECT_EQ(queue.take(now)->failures, 0);
}

TEST(QueueState, JitterOnlyShortensAndNeverPassesTheLongest) {
  const QueueLimits limits{};
  for (int failures = 1; failures < 80; ++failures) {
    const auto full = back_off({.jitter = 0}, failures, 0.9);
    for (double chance : {0.0, 0.3, 0.999}) {
      const auto pause = back_off(limits, failures, chance);
      EXPECT_LE(pause, full);
      EXPECT_GE(pause, full * 79 / 100);
      EXPECT_LE(pause, limits.longest_pause);
    }
  }
}

TEST(QueueState, AFailingKeyThatChangesIsRetriedSoonWithoutSpinning) {
  QueueState queue({.jitter = 0});
  auto now = kStart;
  for (int i = 0; i < 20; ++i) {  // well into minutes of back-off
    queue.add(kA, now);
    now = queue.next_due().value_or(now);
    ASSERT_TRUE(queue.take(now));
    queue.failed(kA, now, 0);
  }
  queue.add(kA, now);  // a change right after the failure
  EXPECT_EQ(queue.next_due(), now + seconds{1});
  ASSERT_TRUE(queue.take(now + seconds{1}));
  queue.add(kA, now + seconds{1});  // a change during the pass, which fails as well
  queue.failed(kA, now + seconds{1}, 0);
  EXPECT_EQ(queue.next_due(), now + seconds{2});
}

TEST(QueueState, ThePauseThatTheServerRequestedHoldsEvenWhenTheKeyChanges) {
  QueueState queue;
  queue.add(kA, kStart);
  ASSERT_TRUE(queue.take(kStart));
  queue.add_at(kA, kStart + milliseconds{1}, kStart);
  EXPECT_EQ(queue.failed(kA, kStart, 0, seconds{30}), seconds{30});
  queue.add(kA, kStart);
  EXPECT_EQ(queue.next_due(), kStart + seconds{30});
}

TEST(QueueState, AnAbandonedPassKeepsItsPlaceAndItsFailures) {
  QueueState queue;
  queue.add(kA, kStart);
  ASSERT_TRUE(queue.take(kStart));
  queue.failed(kA, kStart, 0);
  const auto later = kStart + seconds{1};
  ASSERT_TRUE(queue.take(later));
  queue.abandoned(kA, later);
  const auto taken = queue.take(later);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->failures, 1);
}

TEST(QueueState, ReturningAKeyThatWasNotTakenHasNoEffect) {
  QueueState queue;
  queue.finished(kA, kStart);
  queue.failed(kA, kStart, 0);
  queue.again_at(kA, kStart, kStart);
  queue.abandoned(kA, kStart);
  EXPECT_EQ(queue.entries(), 0u);
  EXPECT_FALSE(queue.take(kStart + minutes{10}));
}

TEST(QueueState, ReportsTheAgeOfTheOldestPass) {
  QueueState queue;
  queue.add(kA, kStart);
  queue.add(kB, kStart);
  ASSERT_TRUE(queue.take(kStart));
  ASSERT_TRUE(queue.take(kStart + seconds{5}));
  EXPECT_EQ(queue.longest_running(kStart + seconds{6}), seconds{6});
  queue.finished(kA, kStart + seconds{6});
  EXPECT_EQ(queue.longest_running(kStart + seconds{6}), seconds{1});
}

// A reference model: for each key, the time of its next pass.
struct Model {
  struct Key {
    bool running = false;
    std::optional<BootTime> wanted{};  // earliest time of the next pass
    int failures = 0;
    BootTime not_before{};
  };
  std::map<ObjectKey, Key> keys;

  void want(const ObjectKey& key, BootTime when, BootTime now) {
    auto& k = keys[key];
    if (k.wanted && *k.wanted <= now && !k.running) return;
    if (k.failures > 0 && !k.running) when = std::max(when, k.not_before);
    if (!k.wanted || when < *k.wanted) k.wanted = when;
  }
  bool may_give(const ObjectKey& key, BootTime now) {
    const auto& k = keys[key];
    return !k.running && k.wanted && *k.wanted <= now;
  }
  bool anything(BootTime now) {
    for (auto& [key, k] : keys) {
      if (may_give(key, now)) return true;
    }
    return false;
  }
};

TEST(QueueState, AgreesWithAModelOnRandomHistories) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t limit) { return random() % limit; };
    QueueState queue({.jitter = 0});
    Model model;
    BootTime now = kStart;
    std::vector<ObjectKey> running;
    for (int step = 0; step < 1500; ++step) {
      const ObjectKey key{"ns", "k" + std::to_string(below(6))};
      switch (below(6)) {
        case 0:
          queue.add(key, now);
          model.want(key, now, now);
          break;
        case 1: {
          const auto due = now + milliseconds{below(3000)};
          queue.add_at(key, due, now);
          model.want(key, due, now);
          break;
        }
        case 2:
          now += milliseconds{below(1500)};
          break;
        case 3:
        case 4: {
          const bool expected = model.anything(now);
          const auto taken = queue.take(now);
          ASSERT_EQ(taken.has_value(), expected) << "step " << step;
          if (!taken) break;
          ASSERT_TRUE(model.may_give(taken->key, now)) << "step " << step;
          auto& k = model.keys[taken->key];
          ASSERT_EQ(taken->failures, k.failures);
          k.running = true;
          k.wanted.reset();
          running.push_back(taken->key);
          break;
        }
        case 5: {
          if (running.empty()) break;
          const size_t at = below(running.size());
          const ObjectKey given = running[at];
          running.erase(running.begin() + static_cast<std::ptrdiff_t>(at));
          auto& k = model.keys[given];
          k.running = false;
          if (below(2) == 0) {
            queue.finished(given, now);
            k.failures = 0;
          } else {
            const nanoseconds asked = below(4) == 0 ? seconds{2} : seconds{0};
            const auto pause = queue.failed(given, now, 0, asked);
            ++k.failures;
            k.not_before = now + std::max(std::min(pause, nanoseconds{seconds{1}}), asked);
            const auto changed = k.wanted ? std::max(*k.wanted, k.not_before) : now + pause;
            k.wanted = std::min(changed, now + pause);
          }
          break;
        }
      }
      ASSERT_EQ(queue.running(), running.size());
      ASSERT_LE(queue.entries(), 6u);
    }
  }
}

}  // namespace
}  // namespace paddle::controllers
