// SPDX-License-Identifier: Apache-2.0
//
// Many jobs at once: their pods are made before it is told how it goes. One pass at a time, with a
// clock that stands still.

#include "controllers/paddle_job/testing/reconciler_fixture.h"

namespace paddle::controllers::paddle_job {
namespace {

using namespace std::chrono_literals;

struct GivingWay : OnePassTest {
  std::unique_ptr<Kubelet> kubelet{};

  void others_wait(int count) {
    for (int i = 0; i < count; ++i) queue.add({"train", "other-" + std::to_string(i)});
  }
  void pods_run() {
    kubelet = std::make_unique<Kubelet>(server, "train",
                                        [](const std::string&, int) { return "Running"; });
  }
};

TEST_F(GivingWay, OnAQuietClusterThePhaseIsSaidAtOnce) {
  create_job();
  begin();
  others_wait(1);
  pass();
  EXPECT_EQ(names(kinds::kPods).size(), 2u);
  EXPECT_EQ(phase(), "Pending");
}

TEST_F(GivingWay, WhileManyWaitThePodsAreMadeAndThePhaseIsSaidFiveSecondsLater) {
  create_job();
  begin();
  others_wait(50);
  EXPECT_EQ(pass().requeue_after, 5s);
  EXPECT_EQ(names(kinds::kPods).size(), 2u);
  EXPECT_EQ(phase(), "");
  clock.advance(4900ms);
  EXPECT_EQ(pass().requeue_after, 100ms);
  EXPECT_EQ(phase(), "");
  clock.advance(100ms);
  pass();
  EXPECT_EQ(phase(), "Pending");
}

TEST_F(GivingWay, ThatTheJobRunsIsSaidAtOnceHoweverManyWait) {
  create_job();
  begin();
  others_wait(50);
  pass();
  pods_run();
  until([&] { return pass(), phase() != ""; });  // the clock stands: nothing of before is due
  EXPECT_EQ(phase(), "Running");
  EXPECT_EQ(count(kube::Verb::kUpdate, kinds::kPaddleJobs, "status"), 1u);
}

TEST_F(GivingWay, WhenTheOthersAreDoneThePhaseIsSaidAfterAMoment) {
  create_job();
  begin();
  others_wait(50);
  pass();
  drain();
  clock.advance(1s);
  pass();
  EXPECT_EQ(phase(), "Pending");
}

TEST_F(GivingWay, WhatTheUserHasToKnowIsSaidAtOnceHoweverManyWait) {
  create_job({{"worker", {{"replicas", -1}}}});
  begin();
  others_wait(50);
  pass();
  EXPECT_NE(phase(), "");
}

TEST_F(GivingWay, PortsOfNodesAreRememberedBeforePodsHoweverManyWait) {
  create_job({{"intranet", "Host"}});
  begin();
  others_wait(50);
  pass();
  EXPECT_GT(job()["status"]["port"].get<int>(), 0);
}

TEST_F(GivingWay, EventsWaitWithTheirTimesAndOneSaysItAll) {
  create_job();
  begin();
  others_wait(50);
  pass();
  pods_run();
  until([&] { return pass(), phase() == "Running"; });
  EXPECT_EQ(names(kinds::kEvents).size(), 0u);
  clock.advance(1s);  // nobody has waited since
  until([&] { return !names(kinds::kEvents).empty(); });
  EXPECT_TRUE(events.flush(1min));
  EXPECT_EQ(names(kinds::kEvents).size(), 1u);
  EXPECT_TRUE(has_event("created pods resnet-worker-0, resnet-worker-1; created configmap resnet"));
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
