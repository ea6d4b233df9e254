// SPDX-License-Identifier: Apache-2.0
#include "kube/events/recorder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kube/fake/failing_cluster.h"
#include "kube/fake/fake_cluster.h"

namespace paddle::kube {
namespace {

using std::chrono::minutes;

const ObjectRef kMap{"v1", "ConfigMap", {"ns", "a"}, "uid-a"};

std::vector<Json> events_of(Cluster& cluster) {
  std::vector<Json> found;
  const auto listed = cluster.list(resources::kEvents, {}, [&](std::string_view text) -> Result<> {
    found.push_back(Json::parse(text));
    return Done{};
  });
  EXPECT_TRUE(listed);
  return found;
}

struct RecorderTest : ::testing::Test {
  FakeCluster cluster{};
  Metrics metrics{};
  bool counted(const std::string& result, int count) {
    const auto line = "result=\"" + result + "\"} " + std::to_string(count);
    return metrics.text().find(line) != std::string::npos;
  }
};

TEST_F(RecorderTest, WritesAnEventThatDescribeCanFind) {
  EventRecorder recorder(cluster, "paddlejob-controller", system_clock(), metrics);
  recorder.event(kMap, EventKind::kNormal, "Created", "created pod a-worker-0");
  ASSERT_TRUE(recorder.flush(minutes{1}));
  const auto events = events_of(cluster);
  ASSERT_EQ(events.size(), 1u);
  const Json& event = events[0];
  EXPECT_EQ(event["involvedObject"]["uid"], "uid-a");
  EXPECT_EQ(event["involvedObject"]["kind"], "ConfigMap");
  EXPECT_EQ(event["metadata"]["namespace"], "ns");
  EXPECT_EQ(event["type"], "Normal");
  EXPECT_EQ(event["count"], 1);
  EXPECT_EQ(event["source"]["component"], "paddlejob-controller");
}

TEST_F(RecorderTest, RepeatsRaiseTheCountOfTheSameEvent) {
  EventRecorder recorder(cluster, "c", system_clock(), metrics);
  for (int i = 0; i < 5; ++i) {
    recorder.event(kMap, EventKind::kWarning, "Failed", "same words");
    ASSERT_TRUE(recorder.flush(minutes{1}));
  }
  const auto events = events_of(cluster);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0]["count"], 5);
}

TEST_F(RecorderTest, DefersEventsForAWhileButNotWarnings) {
  ManualClock clock;
  EventRecorder recorder(cluster, "c", clock, metrics);
  recorder.give_way(std::chrono::seconds{5});
  recorder.event(kMap, EventKind::kNormal, "R", "can wait");
  recorder.event(kMap, EventKind::kWarning, "R", "x");
  while (events_of(cluster).empty()) system_clock().sleep(std::chrono::milliseconds{1}, {});
  EXPECT_EQ(events_of(cluster)[0]["message"], "x");
  const auto happened = rfc3339(clock.wall());
  clock.advance(std::chrono::seconds{5});
  while (events_of(cluster).size() < 2) system_clock().sleep(std::chrono::milliseconds{1}, {});
  for (const Json& event : events_of(cluster)) EXPECT_EQ(event["firstTimestamp"], happened);
}

TEST_F(RecorderTest, TheDeferralIsBounded) {
  ManualClock clock;
  EventRecorder recorder(cluster, "c", clock, metrics);
  recorder.give_way(std::chrono::hours{1});
  recorder.event(kMap, EventKind::kNormal, "R", "m");
  clock.advance(EventLimits{}.max_deferral);
  while (events_of(cluster).empty()) system_clock().sleep(std::chrono::milliseconds{1}, {});
}

TEST_F(RecorderTest, FlushEndsADeferral) {
  EventRecorder recorder(cluster, "c", system_clock(), metrics);
  recorder.give_way(std::chrono::hours{1});
  recorder.event(kMap, EventKind::kNormal, "R", "m");
  ASSERT_TRUE(recorder.flush(minutes{1}));
  EXPECT_EQ(events_of(cluster).size(), 1u);
}

TEST_F(RecorderTest, AnEventThatTheServerHasExpiredIsWrittenAgain) {
  EventRecorder recorder(cluster, "c", system_clock(), metrics);
  recorder.event(kMap, EventKind::kNormal, "R", "m");
  ASSERT_TRUE(recorder.flush(minutes{1}));
  const auto name = events_of(cluster).at(0)["metadata"]["name"].get<std::string>();
  ASSERT_TRUE(cluster.remove(resources::kEvents, {"ns", name}));
  recorder.event(kMap, EventKind::kNormal, "R", "m");
  ASSERT_TRUE(recorder.flush(minutes{1}));
  ASSERT_EQ(events_of(cluster).size(), 1u);
  EXPECT_EQ(events_of(cluster)[0]["count"], 2);
}

TEST_F(RecorderTest, ALostResponseDoesNotMakeASecondEvent) {
  FailingCluster failing(cluster, faults::scripted({Fault{.kind = Fault::Kind::kLose}}));
  ManualClock clock;
  EventRecorder recorder(failing, "c", clock, metrics);
  recorder.event(kMap, EventKind::kNormal, "R", "m");
  ASSERT_TRUE(recorder.flush(minutes{1}));
  EXPECT_EQ(events_of(cluster).size(), 1u);
  EXPECT_TRUE(counted("written", 1));
}

TEST_F(RecorderTest, GivesUpAndCountsWhenTheServerKeepsRefusing) {
  FailingCluster failing(cluster, faults::every_nth(1, Fault{.code = Code::kForbidden}));
  EventRecorder recorder(failing, "c", system_clock(), metrics);
  recorder.event(kMap, EventKind::kNormal, "R", "m");
  ASSERT_TRUE(recorder.flush(minutes{1}));
  EXPECT_TRUE(counted("failed", 1));
  EXPECT_EQ(failing.injected(), 1u);
}

TEST_F(RecorderTest, AStalledServerNeverBlocksTheCaller) {
  FailingCluster stalled(cluster, faults::every_nth(1, Fault{.delay = std::chrono::hours{1}}));
  EventRecorder recorder(stalled, "c", system_clock(), metrics,
                         {.burst = 1'000'000, .waiting = 100});
  for (int i = 0; i < 1000; ++i) {
    recorder.event(kMap, EventKind::kNormal, "R", std::to_string(i));
  }
  EXPECT_FALSE(recorder.flush(std::chrono::nanoseconds{0}));
  EXPECT_EQ(metrics.text().find("result=\"queue_full\"} 0\n"), std::string::npos);
}  // and the destructor does not wait an hour

TEST(EventObject, TheEventOfAClusterScopedObjectIsInDefault) {
  const EventWrite write{.name = "n", .what = {.about = {"v1", "Node", {"", "node-1"}, "u"}}};
  const Json object = event_object(write, "c");
  EXPECT_EQ(object["metadata"]["namespace"], "default");
  EXPECT_FALSE(object["involvedObject"].contains("namespace"));
}

TEST(EventObject, ReadsTheReferenceFromTheObject) {
  const auto ref = ref_of(Json::parse(
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"ns","name":"a","uid":"uid-a"}})"));
  EXPECT_EQ(ref, kMap);
  EXPECT_EQ(ref_of(Json::array()), ObjectRef{});
  EXPECT_EQ(ref_of(Json::parse(R"({"metadata": 3, "kind": []})")), ObjectRef{});
}

}  // namespace
}  // namespace paddle::kube
