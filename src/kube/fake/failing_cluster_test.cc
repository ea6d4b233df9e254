// SPDX-License-Identifier: Apache-2.0
#include "kube/fake/failing_cluster.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kube/fake/fake_cluster.h"

namespace paddle::kube {
namespace {

using namespace resources;

Json map_named(const std::string& name) {
  return {{"metadata", {{"name", name}, {"namespace", "ns"}}}};
}

size_t count(Cluster& cluster, Result<std::string>* outcome = nullptr) {
  size_t seen = 0;
  auto version = cluster.list(kConfigMaps, {}, [&](std::string_view) -> Result<> {
    ++seen;
    return Done{};
  });
  if (outcome) *outcome = std::move(version);
  return seen;
}

TEST(FailingCluster, ARefusedCallIsNotExecuted) {
  FakeCluster inner;
  FailingCluster cluster(inner, faults::every_nth(2, {.code = Code::kThrottled}));
  EXPECT_TRUE(cluster.create(kConfigMaps, map_named("a")));
  EXPECT_TRUE(cluster.create(kConfigMaps, map_named("b")).is(Code::kThrottled));
  EXPECT_EQ(count(inner), 1u);
  EXPECT_EQ(cluster.injected(), 1u);
}

TEST(FailingCluster, ALostResponseLeavesTheEffect) {
  FakeCluster inner;
  FailingCluster cluster(inner,
                         faults::each_once({.kind = Fault::Kind::kLose, .code = Code::kDeadline}));
  EXPECT_TRUE(cluster.create(kConfigMaps, map_named("a")).is(Code::kDeadline));
  EXPECT_TRUE(cluster.create(kConfigMaps, map_named("a")).is(Code::kAlreadyExists));
  EXPECT_TRUE(cluster.remove(kConfigMaps, {"ns", "a"}).is(Code::kDeadline));
  EXPECT_TRUE(cluster.remove(kConfigMaps, {"ns", "a"}).is(Code::kNotFound));
}

TEST(FailingCluster, ARepeatedRequestArrivesTwice) {
  FakeCluster inner;
  FailingCluster cluster(inner, faults::scripted({Fault{.kind = Fault::Kind::kRepeat}}));
  EXPECT_TRUE(cluster.create(kConfigMaps, map_named("a")).is(Code::kAlreadyExists));
  EXPECT_EQ(inner.requests().size(), 2u);
}

TEST(FailingCluster, AListCanBreakHalfWay) {
  FakeCluster inner;
  for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(inner.create(kConfigMaps, map_named(name)));
  for (const size_t whole : {0u, 2u, 3u, 9u}) {
    FailingCluster cluster(
        inner, faults::scripted({Fault{.kind = Fault::Kind::kLose, .elements = whole}}));
    Result<std::string> outcome = std::string{};
    EXPECT_EQ(count(cluster, &outcome), std::min<size_t>(whole, 3));
    EXPECT_TRUE(outcome.is(Code::kUnavailable));
    EXPECT_EQ(count(cluster), 3u) << "the next one is whole";
  }
}

TEST(FailingCluster, AWatchCanBreakAfterSomeEventsOrRepeatThem) {
  FakeCluster inner;
  const std::string start = inner.version();
  for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(inner.create(kConfigMaps, map_named(name)));
  FailingCluster cluster(inner, faults::scripted({Fault{.kind = Fault::Kind::kLose, .elements = 2},
                                                  Fault{.kind = Fault::Kind::kRepeat}}));
  size_t seen = 0;
  EXPECT_TRUE(cluster
                  .watch(kConfigMaps, {.resource_version = start},
                         [&](const WatchEvent&) -> Result<> {
                           ++seen;
                           return Done{};
                         })
                  .is(Code::kUnavailable));
  EXPECT_EQ(seen, 2u);
  EXPECT_TRUE(cluster
                  .watch(kConfigMaps, {.resource_version = start},
                         [&](const WatchEvent&) -> Result<> {
                           if (++seen == 8) return Error{Code::kCancelled, "enough"};
                           return Done{};
                         })
                  .is(Code::kCancelled));
}

TEST(FailingCluster, ADelayPassesOnTheGivenClockAndEndsWithAStop) {
  FakeCluster inner;
  ManualClock clock;
  const auto before = clock.boot();
  FailingCluster cluster(
      inner, faults::every_nth(1, {.kind = Fault::Kind::kDelay, .delay = std::chrono::seconds(7)}),
      clock);
  EXPECT_TRUE(cluster.create(kConfigMaps, map_named("a")));
  EXPECT_EQ(clock.boot() - before, std::chrono::seconds(7));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(
      cluster.get(kConfigMaps, {"ns", "a"}, {.stop = stop.get_token()}).is(Code::kCancelled));
}

}  // namespace
}  // namespace paddle::kube
