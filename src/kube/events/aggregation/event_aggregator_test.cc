// SPDX-License-Identifier: Apache-2.0
#include "kube/events/aggregation/event_aggregator.h"

#include <gtest/gtest.h>

namespace paddle::kube {
namespace {

using std::chrono::seconds;
using Admission = EventAggregator::Admission;

const BootTime kNow{std::chrono::hours{1}};
const WallTime kWall{std::chrono::seconds{1'700'000'000}};

Occurrence about(const std::string& name, const std::string& message = "m") {
  return {.about = {.kind = "ConfigMap", .key = {"ns", name}, .uid = "u"},
          .reason = "Created",
          .message = message};
}

TEST(EventAggregator, RepeatsAreOneEventWithACount) {
  EventAggregator aggregator;
  EXPECT_EQ(aggregator.add(about("a"), kWall, kNow), Admission::kQueued);
  EXPECT_EQ(aggregator.add(about("a"), kWall + seconds{1}, kNow), Admission::kMerged);
  const auto first = aggregator.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->count, 2);
  EXPECT_FALSE(first->stored);
  EXPECT_EQ(first->last, kWall + seconds{1});
  EXPECT_FALSE(aggregator.next());

  EXPECT_EQ(aggregator.add(about("a"), kWall + seconds{9}, kNow + seconds{9}), Admission::kQueued);
  const auto second = aggregator.next();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->name, first->name);
  EXPECT_EQ(second->count, 3);
  EXPECT_TRUE(second->stored);
  EXPECT_EQ(second->first, kWall);
}

TEST(EventAggregator, AnotherMessageReasonOrObjectIsAnotherEvent) {
  EventAggregator aggregator;
  auto warning = about("a");
  warning.kind = EventKind::kWarning;
  for (const auto& occurrence : {about("a"), about("a", "other"), about("b"), warning}) {
    EXPECT_EQ(aggregator.add(occurrence, kWall, kNow), Admission::kQueued);
  }
  EXPECT_EQ(aggregator.waiting(), 4u);
}

TEST(EventAggregator, ARepeatAfterTheWindowIsANewEvent) {
  EventAggregator aggregator;
  aggregator.add(about("a"), kWall, kNow);
  const auto first = aggregator.next();
  const auto later = EventLimits{}.window + seconds{1};
  aggregator.add(about("a"), kWall + later, kNow + later);
  const auto second = aggregator.next();
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->name, second->name);
  EXPECT_EQ(second->count, 1);
  EXPECT_FALSE(second->stored);
}

TEST(EventAggregator, EachObjectHasItsOwnTokensThatRefill) {
  EventAggregator aggregator({.burst = 3, .refill = seconds{60}});
  int queued = 0;
  for (int i = 0; i < 10; ++i) {
    const auto verdict = aggregator.add(about("noisy", std::to_string(i)), kWall, kNow);
    queued += verdict == Admission::kQueued ? 1 : 0;
    if (i >= 3) {
      EXPECT_EQ(verdict, Admission::kTooOften);
    }
  }
  EXPECT_EQ(queued, 3);
  EXPECT_EQ(aggregator.add(about("quiet"), kWall, kNow), Admission::kQueued);
  EXPECT_EQ(aggregator.add(about("noisy", "x"), kWall, kNow + seconds{59}), Admission::kTooOften);
  EXPECT_EQ(aggregator.add(about("noisy", "x"), kWall, kNow + seconds{61}), Admission::kQueued);
}

TEST(EventAggregator, TheNumberOfWaitingEventsIsBounded) {
  EventAggregator aggregator({.burst = 1000, .waiting = 5});
  for (int i = 0; i < 5; ++i) aggregator.add(about("a", std::to_string(i)), kWall, kNow);
  EXPECT_EQ(aggregator.add(about("a", "more"), kWall, kNow), Admission::kFull);
  EXPECT_EQ(aggregator.add(about("a", "0"), kWall, kNow), Admission::kMerged);
}

TEST(EventAggregator, MemoryIsBoundedUnderAFloodOfObjects) {
  EventAggregator aggregator({.remembered = 50});
  for (int i = 0; i < 5000; ++i) {
    ASSERT_EQ(aggregator.add(about("o" + std::to_string(i)), kWall, kNow + seconds{i}),
              Admission::kQueued);
    ASSERT_TRUE(aggregator.next());
    ASSERT_LE(aggregator.remembered(), 2 * 50u + 2);
  }
}

TEST(EventAggregator, AnEventThatCouldNotBeWrittenIsCreatedAtItsNextOccurrence) {
  EventAggregator aggregator;
  aggregator.add(about("a"), kWall, kNow);
  ASSERT_TRUE(aggregator.next());
  aggregator.forget(about("a"));
  aggregator.add(about("a"), kWall, kNow);
  EXPECT_FALSE(aggregator.next()->stored);
}

TEST(EventAggregator, LongMessagesAreCut) {
  EventAggregator aggregator;
  aggregator.add(about("a", std::string(5000, 'x')), kWall, kNow);
  EXPECT_EQ(aggregator.next()->what.message.size(), 1024u);
}

TEST(EventAggregator, DeferredEventsBecomeDueAndWarningsAreDueAtOnce) {
  EventAggregator aggregator;
  EXPECT_FALSE(aggregator.due());
  aggregator.add(about("a"), kWall, kNow, true);
  aggregator.add(about("b"), kWall, kNow + seconds{1}, true);
  EXPECT_EQ(aggregator.due(), kNow + EventLimits{}.max_deferral);
  auto warning = about("c");
  warning.kind = EventKind::kWarning;
  aggregator.add(warning, kWall, kNow + seconds{2}, true);
  EXPECT_EQ(aggregator.due(), BootTime::min());
  EXPECT_EQ(aggregator.next()->what, warning);
  EXPECT_EQ(aggregator.due(), kNow + EventLimits{}.max_deferral);
}

TEST(EventAggregator, NothingIsDeferredWhenManyWait) {
  EventAggregator aggregator({.waiting = 10});
  for (int i = 0; i < 6; ++i) aggregator.add(about(std::to_string(i)), kWall, kNow, true);
  EXPECT_EQ(aggregator.due(), BootTime::min());
}

TEST(EventAggregator, DeferredEventsOfOneObjectAndReasonAreJoined) {
  EventAggregator aggregator;
  EXPECT_EQ(aggregator.add(about("a", "created pods"), kWall, kNow, true), Admission::kQueued);
  EXPECT_EQ(aggregator.add(about("b", "created pods"), kWall, kNow, true), Admission::kQueued);
  EXPECT_EQ(aggregator.add(about("a", "created map"), kWall + seconds{1}, kNow, true),
            Admission::kMerged);
  auto other = about("a", "gone");
  other.reason = "Deleted";
  EXPECT_EQ(aggregator.add(other, kWall, kNow, true), Admission::kQueued);
  const auto first = aggregator.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->what.message, "created pods; created map");
  EXPECT_EQ(first->count, 1);
  EXPECT_EQ(first->first, kWall);
  EXPECT_EQ(first->last, kWall + seconds{1});
  EXPECT_EQ(aggregator.next()->what.message, "created pods");
  EXPECT_EQ(aggregator.next()->what.message, "gone");
  EXPECT_FALSE(aggregator.next());
}

TEST(EventAggregator, AJoinedMessageIsNeverTooLong) {
  EventAggregator aggregator({.burst = 1000});
  for (int i = 0; i < 300; ++i) {
    aggregator.add(about("a", "created " + std::to_string(i)), kWall, kNow, true);
  }
  std::string all;
  while (const auto write = aggregator.next()) {
    EXPECT_LE(write->what.message.size(), 1024u);
    all += write->what.message + "; ";
  }
  for (int i = 0; i < 300; ++i) {
    EXPECT_NE(all.find("created " + std::to_string(i) + "; "), std::string::npos);
  }
}

}  // namespace
}  // namespace paddle::kube
