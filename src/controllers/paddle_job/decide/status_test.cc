// SPDX-License-Identifier: Apache-2.0
//
// Phases, counters, conditions and how long a write of the status may wait.

#include "controllers/paddle_job/decide/status.h"

#include <gtest/gtest.h>

#include "controllers/paddle_job/testing/plan_fixture.h"

namespace paddle::controllers::paddle_job {
namespace {

using namespace std::chrono_literals;

TEST(JobStatus, PhasesFollowThePods) {
  const auto job = workers(2);
  const auto phase = [&](std::vector<api::Pod> pods) {
    return status_after(job, world_of(std::move(pods))).phase;
  };
  EXPECT_EQ(phase({}), "Pending");
  EXPECT_EQ(phase({pending(job, kWorker, 0)}), "Pending");
  EXPECT_EQ(phase({coordinated(job, kWorker, 0)}), "Starting");
  EXPECT_EQ(phase(all_of(job, running)), "Running");
  EXPECT_EQ(phase({running(job, kWorker, 0), exited(job, kWorker, 1, 0)}), "Running");
  EXPECT_EQ(phase({exited(job, kWorker, 1, 1), pending(job, kWorker, 0)}), "Failed");
  EXPECT_EQ(phase({exited(job, kWorker, 0, 0), exited(job, kWorker, 1, 0)}), "Completed");
}

TEST(JobStatus, ThePhasesOfTheContractFollowThePodsOfAPsJob) {
  const auto job = ps_job();
  const auto phase = [&](std::vector<api::Pod> pods, const char* last) {
    auto previous = job;
    previous.status.phase = last;
    return status_after(previous, published(job, std::move(pods))).phase;
  };
  EXPECT_EQ(phase(all_of(job, running), "Starting"), "Running");
  EXPECT_EQ(phase({exited(job, kPs, 0, 0), exited(job, kPs, 1, 0), exited(job, kWorker, 0, 0),
                   exited(job, kWorker, 1, 0)},
                  "Running"),
            "Completed");
  // Where the Go operator kept Running for ever: servers do not end by themselves.
  EXPECT_EQ(phase({running(job, kPs, 0), running(job, kPs, 1), exited(job, kWorker, 0, 0),
                   exited(job, kWorker, 1, 0)},
                  "Running"),
            "Completed");
  EXPECT_EQ(phase({running(job, kPs, 0), running(job, kPs, 1), exited(job, kWorker, 0, 1),
                   running(job, kWorker, 1)},
                  "Running"),
            "Running")
      << "first the node of the other worker is asked for a sign of life";
  EXPECT_EQ(status_after(job, World{}).phase, "Pending");
}

TEST(JobStatus, B13_TheStatusFollowsFromTheWorldAndIsWrittenOnlyWhenItDiffers) {
  auto job = ps_job();
  const auto world = published(job, all_of(job, running));
  job.status = status_after(job, world);
  EXPECT_EQ(job.status.phase, "Running");
  EXPECT_EQ(job.status.worker->running, 2);
  EXPECT_EQ(job.status.start_time, kNow);
  EXPECT_EQ(plan_for(job, world, {}, kNow + 60s), Plan{});
}

TEST(JobStatus, ItHasNoResourceVersionsAndSelectsTheWorkersForScale) {
  const auto job = ps_job();
  const auto status = status_after(job, published(job, all_of(job, running)));
  EXPECT_EQ(status.ready, "4/4");
  ASSERT_EQ(status.worker->refs.size(), 2u);
  EXPECT_EQ(status.worker->refs[0].name, "demo-worker-0");
  EXPECT_EQ(status.worker->refs[0].resource_version, "");
  EXPECT_EQ(status.replicas, 2);
  EXPECT_EQ(status.selector, "batch.paddlepaddle.org/job-name=demo,paddle-res-type=worker");
  EXPECT_EQ(status.observed_generation, 1);
  EXPECT_EQ(status.mode, "PS");
  EXPECT_EQ(status.start_time, kNow);
}

TEST(JobStatus, ReadyCountsPodsThatRunOrHaveSucceeded) {
  const auto job = ps_job();
  EXPECT_EQ(status_after(job, World{}).ready, "0/4");
  const auto some = world_of({running(job, kPs, 0), pending(job, kPs, 1), pending(job, kWorker, 0),
                              exited(job, kWorker, 1, 0)});
  EXPECT_EQ(status_after(job, some).ready, "2/4");
}

TEST(JobStatus, FitsIntoEtcdWithAsManyPodsAsTheSchemaAllows) {
  const std::string name(50, 'a');
  auto job = job_with(R"({"ps": {"replicas": 5000}, "worker": {"replicas": 5000}})", name);
  std::vector<api::Pod> pods = all_of(job, running);
  for (api::Pod& pod : pods) pod.meta.uid = std::string(36, 'u') + pod.meta.key.name;
  const auto status = status_after(job, published(job, std::move(pods)));
  EXPECT_EQ(status.ps->refs.size() + status.worker->refs.size(), 1000u);
  EXPECT_EQ(status.worker->running, 5000);
  EXPECT_EQ(status.replicas, 5000);
  EXPECT_LT(api::encode(status).dump().size(), 500'000u) << "etcd allows 1.5 MiB for the whole job";
}

TEST(JobStatus, B6_ARejectedRequestIsReportedInACondition) {
  World world;
  world.trouble = BlockReason{"Refused", "exceeded quota: pods"};
  const auto status = status_after(workers(1), world);
  EXPECT_EQ(reason(status), "Refused");
  EXPECT_EQ(api::find_condition(status.conditions, "Ready")->message, "exceeded quota: pods");
}

TEST(JobStatus, B14_ConditionsHaveReasonsAndTheObservedGeneration) {
  auto job = workers(1);
  job.meta.generation = 7;
  const auto status = status_after(job, {});
  EXPECT_EQ(status.observed_generation, 7);
  EXPECT_EQ(api::find_condition(status.conditions, "Ready")->observed_generation, 7);
  EXPECT_EQ(reason(status), "WaitingForPods");
}

TEST(JobStatus, TheConditionsOfAFinishedJobHoldForLaterSpecs) {
  auto job = workers(1);
  job.status.phase = "Completed";
  job.status.conditions = {{.type = "Complete", .status = "True", .observed_generation = 1}};
  job.meta.generation = 2;
  const auto status = status_after(job, {});
  EXPECT_EQ(api::find_condition(status.conditions, "Complete")->observed_generation, 2);
}

TEST(JobStatus, TheConditionNamesThePodThatCannotStartAndTheReason) {
  const auto job = workers(2);
  const auto says = [&](const api::Pod& pod) {
    const auto status = status_after(job, world_of({running(job, kWorker, 0), pod}));
    return reason(status) + ": " + api::find_condition(status.conditions, "Ready")->message;
  };
  api::Pod pod = pending(job, kWorker, 1);
  pod.containers = {{.name = "main", .reason = "ContainerCreating"}};
  EXPECT_TRUE(says(pod).starts_with("WaitingForPods: ")) << says(pod);
  pod.containers[0].reason = "ImagePullBackOff";
  EXPECT_EQ(says(pod),
            "ImagePullBackOff: container main of pod demo-worker-1 cannot start: ImagePullBackOff; "
            "see kubectl describe pod demo-worker-1");
  pod.containers.clear();
  pod.unschedulable = "0/3 nodes are available: 3 Insufficient cpu.";
  EXPECT_EQ(says(pod),
            "Unschedulable: pod demo-worker-1 cannot be scheduled: 0/3 nodes are available: 3 "
            "Insufficient cpu.");
}

TEST(JobStatus, TheConditionOfASuspendedJobHasTheNumberOfRemainingPods) {
  auto job = workers(2, R"({"suspend": true})");
  job.status.phase = "Suspended";
  const auto says = [&](std::vector<api::Pod> pods) {
    const auto status = status_after(job, world_of(std::move(pods)));
    return api::find_condition(status.conditions, "Suspended")->message;
  };
  EXPECT_EQ(says({running(job, kWorker, 0), running(job, kWorker, 1)}),
            "waiting for 2 pods to be deleted");
  EXPECT_EQ(says({running(job, kWorker, 1)}), "waiting for 1 pod to be deleted");
  EXPECT_EQ(says({}), "the job has no pods");
}

TEST(JobStatusDelay, OnlyASignificantChangeIsWrittenAtOnce) {
  auto job = workers(2);
  auto pods = all_of(job, pending);
  const auto first = plan_for(job, world_of(pods));
  EXPECT_EQ(first.status_delay, 0s);
  job.status = *first.status;
  EXPECT_EQ(plan_for(job, world_of(pods)), Plan{});
  pods[0].ip = "10.0.0.1";  // one of two has an address: only a message
  const auto second = plan_for(job, world_of(pods));
  ASSERT_TRUE(second.status);
  EXPECT_EQ(second.status_delay, 15s);
}

TEST(JobStatusDelay, OnlyProgressOfAStartWaitsWhileManyJobsAreQueued) {
  const auto delay_of = [](const api::PaddleJob& job, World world) {
    EXPECT_EQ(plan_for(job, world).status_delay, 0s) << "nothing waits in a quiet cluster";
    world.busy = true;
    return plan_for(job, world).status_delay;
  };
  auto job = ps_job();
  EXPECT_EQ(delay_of(job, world_of(all_of(job, pending))), 5s);
  job.status = status_after(job, world_of(all_of(job, pending)));
  EXPECT_EQ(job.status.phase, "Pending");
  const World starting = published(job, all_of(job, coordinated));
  EXPECT_EQ(status_after(job, starting).phase, "Starting");
  EXPECT_EQ(delay_of(job, starting), 5s);

  const World runs = published(job, all_of(job, running));
  EXPECT_EQ(status_after(job, runs).phase, "Running");
  EXPECT_EQ(delay_of(job, runs), 0s);

  auto changed = job;
  changed.meta.generation += 1;
  EXPECT_EQ(delay_of(changed, starting), 0s);
  auto refused = world_of(all_of(job, pending));
  refused.trouble = BlockReason{"Refused", "no"};
  EXPECT_EQ(delay_of(job, refused), 0s);
  const auto elastic = workers(2, R"({"elastic": 1})");
  EXPECT_EQ(delay_of(elastic, world_of(all_of(elastic, pending))), 0s);
}

TEST(Status, ACrashLoopingWorkerIsNotReadyThoughTheJobKeepsRunning) {
  auto job = workers(2, R"({"intranet": "Service"})");
  job.status.phase = "Running";
  const auto status = status_after(
      job, published(job, {running(job, kWorker, 0), crash_looping(job, kWorker, 1, 3)}));
  EXPECT_EQ(status.phase, "Running");
  const auto* ready = api::find_condition(status.conditions, "Ready");
  EXPECT_EQ(ready->status, "False");
  EXPECT_EQ(ready->reason, "CrashLoopBackOff");
  EXPECT_NE(ready->message.find("exit code 1 after 3 restarts"), std::string::npos);

  auto between = crash_looping(job, kWorker, 1, 3);  // it has just failed
  between.containers[0] = {.name = "c",
                           .state = api::ContainerStatus::State::kTerminated,
                           .restarts = 3,
                           .exit_code = 1,
                           .reason = "Error"};
  EXPECT_EQ(reason(status_after(job, published(job, {running(job, kWorker, 0), between}))),
            "ContainerFailed");
}

TEST(Status, AJobWithAPodThatWaitsAgainIsNotReady) {
  auto job = workers(2, R"({"intranet": "Service"})");
  job.status.phase = "Running";
  const auto status =
      status_after(job, published(job, {running(job, kWorker, 0), pending(job, kWorker, 1)}));
  EXPECT_EQ(status.phase, "Running");
  EXPECT_EQ(reason(status), "WaitingForPods");
}

TEST(Status, AContainerThatHasEndedWellBesideOthersDoesNotMakeTheJobUnready) {
  auto job = workers(1);
  job.status.phase = "Running";
  auto pod = running(job, kWorker, 0);
  pod.containers.push_back(
      {.name = "setup", .state = api::ContainerStatus::State::kTerminated, .reason = "Completed"});
  EXPECT_EQ(reason(status_after(job, published(job, {pod}))), "Running");
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
