// SPDX-License-Identifier: Apache-2.0
//
// Many jobs in the queue (PassPacing): creating their pods goes before reporting progress. One pass
// at a time, with a manual clock.

#include "controllers/paddle_job/testing/reconciler_fixture.h"

namespace paddle::controllers::paddle_job {
namespace {

using namespace std::chrono_literals;

struct BusyQueueTest : OnePassTest {
  std::unique_ptr<Kubelet> kubelet{};

  void queue_other_jobs(int count) {
    for (int i = 0; i < count; ++i) queue.add({"train", "other-" + std::to_string(i)});
  }
  void run_pods() {
    kubelet = std::make_unique<Kubelet>(server, "train",
                                        [](const std::string&, int) { return "Running"; });
  }
};

TEST_F(BusyQueueTest, ThePhaseIsWrittenAtOnceWhenTheQueueIsShort) {
  create_job();
  begin();
  queue_other_jobs(1);
  pass();
  EXPECT_EQ(names(kinds::kPods).size(), 2u);
  EXPECT_EQ(phase(), "Pending");
}

TEST_F(BusyQueueTest, PodsAreCreatedAtOnceAndThePhaseIsWrittenThirtySecondsLater) {
  create_job();
  begin();
  queue_other_jobs(50);
  EXPECT_EQ(pass().requeue_after, 5s) << "then it is seen whether the queue is still long";
  EXPECT_EQ(names(kinds::kPods).size(), 2u);
  EXPECT_EQ(phase(), "");
  clock.advance(29900ms);
  EXPECT_EQ(pass().requeue_after, 100ms);
  EXPECT_EQ(phase(), "");
  clock.advance(100ms);
  pass();
  EXPECT_EQ(phase(), "Pending");
}

TEST_F(BusyQueueTest, ThePhaseRunningIsWrittenAtOnce) {
  create_job();
  begin();
  queue_other_jobs(50);
  pass();
  run_pods();
  until([&] { return pass(), phase() != ""; });  // the clock stands still: no delayed write is due
  EXPECT_EQ(phase(), "Running");
  EXPECT_EQ(count(kube::Verb::kUpdate, kinds::kPaddleJobs, "status"), 1u);
}

TEST_F(BusyQueueTest, ThePhaseIsWrittenOneSecondAfterTheQueueIsShort) {
  create_job();
  begin();
  queue_other_jobs(50);
  pass();
  drain();
  clock.advance(1s);
  pass();
  EXPECT_EQ(phase(), "Pending");
}

TEST_F(BusyQueueTest, AnErrorInTheSpecIsWrittenAtOnce) {
  create_job({{"worker", {{"replicas", -1}}}});
  begin();
  queue_other_jobs(50);
  pass();
  EXPECT_NE(phase(), "");
}

TEST_F(BusyQueueTest, HostPortsAreStoredAtOnce) {
  create_job({{"intranet", "Host"}});
  begin();
  queue_other_jobs(50);
  pass();
  EXPECT_GT(job()["status"]["port"].get<int>(), 0);
}

TEST_F(BusyQueueTest, EventsWaitWithTheirTimesAndAreMerged) {
  create_job();
  begin();
  queue_other_jobs(50);
  pass();
  run_pods();
  until([&] { return pass(), phase() == "Running"; });
  EXPECT_EQ(names(kinds::kEvents).size(), 0u);
  clock.advance(1s);  // the queue has been short since
  until([&] { return !names(kinds::kEvents).empty(); });
  EXPECT_TRUE(events.flush(1min));
  EXPECT_EQ(names(kinds::kEvents).size(), 1u);
  EXPECT_TRUE(has_event("created pods resnet-worker-0, resnet-worker-1; created configmap resnet"));
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
