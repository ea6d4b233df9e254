// SPDX-License-Identifier: Apache-2.0
#include "kube/leader/election/election.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace paddle::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const BootTime kNow{std::chrono::hours{5}};
const WallTime kWall{std::chrono::seconds{1'700'000'000}};
const LeaseTiming kTiming{};

ObservedLease held_by(const std::string& holder, BootTime since) {
  return {{.holder = holder, .duration = seconds{15}, .renew_time = "t"}, since};
}

TEST(Election, AMissingLeaseIsCreatedAndAFreeOneTakenAtOnce) {
  EXPECT_EQ(decide(std::nullopt, "me", kTiming, kNow).action, LeaseAction::kCreate);
  EXPECT_EQ(decide(held_by("", kNow), "me", kTiming, kNow).action, LeaseAction::kAcquire);
}

TEST(Election, OurOwnLeaseIsRenewed) {
  EXPECT_EQ(decide(held_by("me", kNow), "me", kTiming, kNow).action, LeaseAction::kRenew);
}

TEST(Election, TheLeaseOfAnotherIsTakenOnlyAfterItStayedUnchangedForItsDuration) {
  const auto seen = held_by("other", kNow);
  const auto end = kNow + seconds{15};
  EXPECT_EQ(decide(seen, "me", kTiming, end - BootClock::duration{1}).action, LeaseAction::kWait);
  EXPECT_EQ(decide(seen, "me", kTiming, end).action, LeaseAction::kAcquire);
  EXPECT_EQ(decide(seen, "me", kTiming, kNow).until, end);
}

TEST(Election, TheHoldersLongerLeaseIsRespected) {
  auto seen = held_by("other", kNow);
  seen.record.duration = seconds{60};
  EXPECT_EQ(decide(seen, "me", kTiming, kNow + seconds{59}).action, LeaseAction::kWait);
  seen.record.duration = seconds{1};  // and a nonsensically short one does not hurry us
  EXPECT_EQ(decide(seen, "me", kTiming, kNow + seconds{14}).action, LeaseAction::kWait);
}

TEST(Election, OnlyAChangeOfTheRecordCountsAsARenewal) {
  const auto first = held_by("other", kNow);
  EXPECT_EQ(observe_lease(first, first.record, kNow + seconds{9}).since, kNow);
  auto renewed = first.record;
  renewed.renew_time = "t2";
  EXPECT_EQ(observe_lease(first, renewed, kNow + seconds{9}).since, kNow + seconds{9});
}

TEST(Election, AClaimCountsTransitionsOnlyWhenTheHolderChanges) {
  const auto created = claim(std::nullopt, "me", kTiming, kWall);
  EXPECT_EQ(created.transitions, 0);
  EXPECT_EQ(created.holder, "me");
  EXPECT_EQ(created.duration, seconds{15});
  EXPECT_EQ(created.renew_time, "2023-11-14T22:13:20.000000Z");
  EXPECT_EQ(created.acquire_time, created.renew_time);

  const auto renewed = claim(created, "me", kTiming, kWall + seconds{2});
  EXPECT_EQ(renewed.transitions, 0);
  EXPECT_EQ(renewed.acquire_time, created.acquire_time);
  EXPECT_NE(renewed.renew_time, created.renew_time);

  const auto taken = claim(released(renewed, kWall), "you", kTiming, kWall);
  EXPECT_EQ(taken.transitions, 1);
}

TEST(Election, ImpossibleTimingIsRefused) {
  EXPECT_TRUE(check(kTiming));
  EXPECT_TRUE(check({.lease = seconds{15}, .renew_deadline = seconds{15}}).is(Code::kInvalid));
  EXPECT_TRUE(check({.renew_deadline = seconds{2}}).is(Code::kInvalid));
  EXPECT_TRUE(check({.retry = seconds{0}}).is(Code::kInvalid));
  EXPECT_TRUE(check({.lease = milliseconds{15'500}}).is(Code::kInvalid));
  EXPECT_TRUE(check({.margin = seconds{-1}}).is(Code::kInvalid));
}

// A server that stores one record with a version, and candidates that are paused at any instant,
// whose boot clocks started at different times and whose wall clocks are plainly wrong. At no
// instant may two of them believe that they may write.
TEST(Election, NeverTwoWritersWhateverIsPausedAndHoweverWrongTheWallClocks) {
  const LeaseTiming timing{.lease = seconds{3},
                           .renew_deadline = seconds{2},
                           .retry = milliseconds{500},
                           .margin = milliseconds{200}};
  struct Server {
    std::optional<LeaseRecord> record{};
    int version = 0;
  };
  struct Candidate {
    std::string name{};
    milliseconds boot_offset{}, wall_offset{};
    std::optional<ObservedLease> seen{};
    int seen_version = 0;
    BootTime may_write_until{};
    milliseconds busy{0};  // paused, asleep or waiting for an answer
    bool sending = false;  // looked and decided; the write is on its way
    LeaseRecord wants{};
    BootTime started{};
  };
  int terms = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Server server;
    std::vector<Candidate> candidates;
    for (int i = 0; i < 3; ++i) {
      candidates.push_back({.name = "c" + std::to_string(i),
                            .boot_offset = milliseconds{random() % 100'000'000},
                            .wall_offset = milliseconds{random() % 100'000'000}});
    }
    for (milliseconds t{0}; t < seconds{120}; t += milliseconds{10}) {
      int writers = 0;
      for (auto& c : candidates) {
        const BootTime now{c.boot_offset + t};
        writers += now < c.may_write_until ? 1 : 0;
        if (c.busy > milliseconds{0}) {
          c.busy -= milliseconds{10};
          continue;
        }
        // Mostly prompt; sometimes stopped for longer than the lease, at any point.
        const auto stall = random() % 12 == 0 ? milliseconds{random() % 7000} : milliseconds{0};
        if (!c.sending) {
          c.seen_version = server.version;
          c.seen = server.record ? std::optional(observe_lease(c.seen, *server.record, now))
                                 : std::nullopt;
          const auto decision = decide(c.seen, c.name, timing, now);
          if (decision.action == LeaseAction::kWait) {
            c.busy = timing.retry + stall;
            continue;
          }
          c.wants = claim(server.record, c.name, timing, kWall + c.wall_offset + t);
          c.started = now;
          c.sending = true;
          c.busy = milliseconds{random() % 40} + stall;
          continue;
        }
        c.sending = false;
        if (server.version == c.seen_version) {  // the precondition
          terms += !server.record || server.record->holder != c.name ? 1 : 0;
          server.record = c.wants;
          ++server.version;
          c.may_write_until = write_until(c.started, timing);
        }
        c.busy = timing.retry + stall;
      }
      ASSERT_LE(writers, 1) << "at " << t.count() << " ms";
    }
  }
  EXPECT_GT(terms, 100) << "the lease hardly moved; the test proved little";
}

}  // namespace
}  // namespace paddle::kube
