// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/decide/start_barrier.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/paddle_job/testing/plan_fixture.h"

namespace paddle::controllers::paddle_job {
namespace {

using namespace std::chrono_literals;

TEST(StartBarrier, NoPodIsReleasedBeforeTheLastAddressIsKnown) {
  const auto job = workers(2);
  auto late = coordinated(job, kWorker, 1);
  late.ip.clear();
  const auto incomplete = plan_for(job, world_of({coordinated(job, kWorker, 0), late}));
  EXPECT_TRUE(incomplete.waves.empty());

  const auto plan = plan_for(job, world_of(all_of(job, coordinated)));
  // The ConfigMap has to exist before a pod is released.
  ASSERT_EQ(plan.waves.size(), 2u);
  EXPECT_EQ(created(plan, OwnedKind::kConfigMap), Names{"demo"});
  EXPECT_TRUE(std::holds_alternative<Create>(plan.waves[0][0]));
  EXPECT_EQ(released(plan), (Names{"demo-worker-0", "demo-worker-1"}));
  EXPECT_EQ(only<ReleasePod>(plan)[0].value, "0/10.0.1.1");
}

TEST(StartBarrier, NoPodIsReleasedWithAnOutdatedListWhileAFailureIsJudged) {
  const auto job = workers(3);
  World world = published(
      job, {running(job, kWorker, 0), coordinated(job, kWorker, 1), running(job, kWorker, 2)});
  auto moved = coordinated(job, kWorker, 1);
  moved.ip = "10.9.9.9";
  world.pods = world_of({exited(job, kWorker, 0, 3), moved, running(job, kWorker, 2)}).pods;
  const auto plan = plan_for(job, world);
  ASSERT_FALSE(leases_read(plan).empty());
  EXPECT_EQ(released(plan), Names{});
}

TEST(StartBarrier, APodThatStillWaitsIsReleasedAgainWithGrowingPauses) {
  const auto job = workers(1);
  auto pod = coordinated(job, kWorker, 0);
  const auto first = only<ReleasePod>(plan_for(job, published(job, {pod})));
  ASSERT_EQ(first.size(), 1u);
  pod.meta.annotations[kReleaseAnnotation] = first[0].value;
  pod.meta.annotations[kReleasedAtAnnotation] = first[0].stamp;
  WallTime now = kNow;
  for (const int pause : {5, 10, 20, 40, 60, 60}) {
    const auto early = plan_for(job, published(job, {pod}), {}, now + 1s);
    EXPECT_EQ(released(early), Names{});
    EXPECT_EQ(early.requeue_after, std::chrono::seconds{pause - 1});
    now += std::chrono::seconds{pause};
    const auto again = only<ReleasePod>(plan_for(job, published(job, {pod}), {}, now));
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(again[0].value, first[0].value);
    EXPECT_NE(again[0].stamp, pod.meta.annotations[kReleasedAtAnnotation]);
    pod.meta.annotations[kReleasedAtAnnotation] = again[0].stamp;
  }
  // A clock that was set back does not silence it.
  EXPECT_EQ(released(plan_for(job, published(job, {pod}), {}, kNow)), Names{"demo-worker-0"});
  // It has gone on, or its own init containers are still at work: nothing to say.
  pod.init_containers[0].state = api::ContainerStatus::State::kTerminated;
  EXPECT_EQ(released(plan_for(job, published(job, {pod}), {}, now + 1h)), Names{});
}

TEST(StartBarrier, ServersAreReleasedFirstThenWorkersThenHeterogeneousTrainers) {
  auto job =
      job_with(R"({"ps": {"replicas": 1}, "worker": {"replicas": 1}, "heter": {"replicas": 1}})");
  auto pods = all_of(job, coordinated);
  EXPECT_EQ(released(plan_for(job, published(job, pods))), Names{"demo-ps-0"});
  pods[0] = running(job, kPs, 0);
  EXPECT_EQ(released(plan_for(job, published(job, pods))), Names{"demo-worker-0"});
  pods[1] = running(job, kWorker, 0);
  EXPECT_EQ(released(plan_for(job, published(job, pods))), Names{"demo-heter-0"});
  pods[2] = running(job, kHeter, 0);
  EXPECT_EQ(released(plan_for(job, published(job, pods))), Names{});
}

TEST(StartBarrier, WorkersWaitForAServerThatIsNotReady) {
  const auto job = ps_job();
  auto pods = all_of(job, coordinated);
  pods[0] = running(job, kPs, 0);
  pods[1] = running(job, kPs, 1);
  pods[1].containers[0].ready = false;
  EXPECT_EQ(released(plan_for(job, published(job, pods))), Names{});
}

TEST(StartBarrier, APodOfAServiceJobThatReturnsWithAnotherAddressIsReleasedAgain) {
  const auto job = workers(2, R"({"intranet": "Service"})");
  auto back = coordinated(job, kWorker, 1);
  back.meta.annotations[kReleaseAnnotation] = "0/10.9.9.9";
  const auto plan = plan_for(job, published(job, {running(job, kWorker, 0), back}));
  EXPECT_EQ(released(plan), Names{"demo-worker-1"});
  EXPECT_EQ(only<ReleasePod>(plan)[0].value, "0/10.0.1.2");
  EXPECT_FALSE(stores_first(plan));
}

TEST(StartBarrier, B19_ARoleWithoutReplicasBlocksNothing) {
  const auto job = job_with(R"({"ps": {"replicas": 0}, "worker": {"replicas": 1}})");
  EXPECT_EQ(created(plan_for(job, {})), Names{"demo-worker-0"});
  EXPECT_EQ(released(plan_for(job, world_of(all_of(job, coordinated)))), Names{"demo-worker-0"});
  EXPECT_EQ(status_after(job, published(job, all_of(job, running))).phase, "Running");
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
