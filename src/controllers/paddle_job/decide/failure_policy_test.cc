// SPDX-License-Identifier: Apache-2.0
//
// Including the liveness of nodes (decide/pods/node_liveness.h).

#include "controllers/paddle_job/decide/failure_policy.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/paddle_job/decide/pods/pod_facts.h"
#include "controllers/paddle_job/testing/plan_fixture.h"

namespace paddle::controllers::paddle_job {
namespace {

using std::chrono::seconds;

TEST(FailurePolicy, B10_AChangedAddressRestartsAllPodsWithANewConfigMap) {
  auto job = workers(2);
  job.status.phase = "Running";
  auto world = published(job, all_of(job, running));
  auto moved = running(job, kWorker, 1);
  moved.ip = "10.9.9.9";
  world.pods[1] = std::make_shared<const api::Pod>(moved);
  const auto plan = plan_for(job, world);
  ASSERT_TRUE(stores_first(plan));  // the epoch before any action
  EXPECT_EQ(plan.status->epoch, 1);
  EXPECT_EQ(plan.status->disruptions, 1);
  EXPECT_EQ(plan.status->phase, "Restarting");

  job.status = *plan.status;
  EXPECT_EQ(deleted(plan_for(job, world)), (Names{"demo-worker-0", "demo-worker-1"}));
  EXPECT_TRUE(created(plan_for(job, world)).empty());  // their names are still in use
  world.pods.clear();
  EXPECT_EQ(created(plan_for(job, world)), (Names{"demo-worker-0", "demo-worker-1"}));
  auto next = world_of(all_of(job, coordinated));
  next.peer_config = world.peer_config;
  const auto again = plan_for(job, next);
  ASSERT_EQ(only<Replace>(again).size(), 1u);
  EXPECT_EQ((*only<Replace>(again)[0].manifest)["metadata"]["resourceVersion"], "7");
  EXPECT_EQ(only<ReleasePod>(again)[0].value, "1/10.0.1.1");
}

TEST(FailurePolicy, B10_AServiceJobReplacesASinglePod) {
  auto job = ps_job(R"({"intranet": "Service"})");
  job.status.phase = "Running";
  auto world =
      published(job, {running(job, kPs, 0), running(job, kPs, 1), running(job, kWorker, 0)});
  for (const auto& name : {"demo-ps-0", "demo-ps-1", "demo-worker-0", "demo-worker-1"}) {
    world.services.push_back({.meta = {.key = {"t", name}, .uid = name}});
  }
  EXPECT_TRUE(confirms_pods(plan_for(job, world)));  // is it really gone?
  world.confirmed = true;
  const auto plan = plan_for(job, world);
  EXPECT_EQ(created(plan), Names{"demo-worker-1"});
  EXPECT_FALSE(stores_first(plan));
}

TEST(FailurePolicy, B12_AFailedPodFailsTheJobWhateverTheOrderOfRoles) {
  const auto job = ps_job();
  for (const RoleKind bad : {kPs, kWorker}) {
    auto pods = all_of(job, pending);
    pods[bad == kPs ? 0 : 2] = exited(job, bad, 0, 1);
    EXPECT_EQ(status_after(job, world_of(pods)).phase, "Failed");
  }
}

TEST(FailurePolicy, B14_EvictionsAreRetriedThreeTimesAndDoNotCountAsFailures) {
  auto job = workers(2);
  for (int round = 1; round <= 3; ++round) {
    const auto plan =
        plan_for(job, published(job, {running(job, kWorker, 0), evicted(job, kWorker, 1)}));
    ASSERT_TRUE(stores_first(plan)) << round;
    EXPECT_EQ(plan.status->disruptions, round);
    EXPECT_EQ(plan.status->failures, 0);
    EXPECT_EQ(plan.status->phase, "Restarting");
    job.status = *plan.status;
  }
  const auto last =
      status_after(job, published(job, {running(job, kWorker, 0), evicted(job, kWorker, 1)}));
  EXPECT_EQ(last.phase, "Failed");
  EXPECT_EQ(reason(last, "Failed"), "DisruptionLimitExceeded");
}

TEST(FailurePolicy, B14_AnExitCodeOfTheProgramFailsTheJobUnlessBackoffLimitAllowsIt) {
  auto job = workers(1);
  EXPECT_EQ(status_after(job, published(job, {exited(job, kWorker, 0, 3)})).phase, "Failed");
  job.spec.backoff_limit = 1;
  const auto once = status_after(job, published(job, {exited(job, kWorker, 0, 3)}));
  EXPECT_EQ(once.phase, "Restarting");
  EXPECT_EQ(once.failures, 1);
  EXPECT_EQ(once.epoch, 1);
  job.status = once;
  const auto twice = status_after(job, published(job, {exited(job, kWorker, 0, 3)}));
  EXPECT_EQ(twice.phase, "Failed");
  EXPECT_EQ(reason(twice, "Failed"), "BackoffLimitExceeded");
  EXPECT_NE(api::find_condition(twice.conditions, "Failed")->message.find("exit code 3"),
            std::string::npos);
}

TEST(FailurePolicy, B14_AFailureBesideADisruptionCountsAsADisruption) {
  auto job = workers(3);
  auto leaving = running(job, kWorker, 2);
  leaving.meta.deleted = kNow;
  for (const api::Pod& other : {evicted(job, kWorker, 2), leaving}) {
    const auto status = status_after(
        job, published(job, {exited(job, kWorker, 0, 1), exited(job, kWorker, 1, 1), other}));
    EXPECT_EQ(status.phase, "Restarting");
    EXPECT_EQ(status.disruptions, 1);
    EXPECT_EQ(status.failures, 0);
  }
}

TEST(FailurePolicy, B14_PodsThatWentDownWithTheirNodeAreDisrupted) {
  using State = api::ContainerStatus::State;
  const api::ContainerStatus containerd{
      .name = "c", .state = State::kTerminated, .exit_code = 255, .reason = "Unknown"};
  const api::ContainerStatus kubelet{.name = "c",
                                     .state = State::kTerminated,
                                     .exit_code = 137,
                                     .reason = "ContainerStatusUnknown"};
  const api::ContainerStatus own{
      .name = "main", .state = State::kTerminated, .exit_code = 255, .reason = "Error"};
  auto job = workers(2);
  auto down = exited(job, kWorker, 0, 255);
  for (const auto& lost : {containerd, kubelet}) {
    down.containers = {lost};
    // The peer noticed and ended as well.
    const auto status = status_after(job, published(job, {down, exited(job, kWorker, 1, 1)}));
    EXPECT_EQ(status.phase, "Restarting") << lost.reason;
    EXPECT_EQ(status.disruptions, 1) << lost.reason;
    EXPECT_EQ(status.failures, 0) << lost.reason;
  }
  for (const auto& ended : {std::vector{own}, std::vector{kubelet, own}}) {
    down.containers = ended;
    EXPECT_EQ(status_after(job, published(job, {down, exited(job, kWorker, 1, 0)})).phase,
              "Failed");
  }
}

TEST(FailurePolicy, B14_APodThatStartsAgainExcusesTheFailuresOfItsPeers) {
  auto job = workers(2);
  auto back = running(job, kWorker, 1);
  back.meta.annotations[kReleaseAnnotation] = "0/" + back.ip;
  auto world = published(job, {exited(job, kWorker, 0, 250), back});
  world.node_leases["node-1"] = {.renewed = kNow + seconds{3}};
  EXPECT_EQ(status_after(job, world, {}, kNow + seconds{7}).phase, "Failed");
  for (const char* address : {"", "10.9.9.9"}) {
    back.ip = address;
    world.pods = published(job, {exited(job, kWorker, 0, 250), back}).pods;
    const auto status = status_after(job, world, {}, kNow + seconds{7});
    EXPECT_EQ(status.phase, "Restarting") << address;
    EXPECT_EQ(status.disruptions, 1) << address;
  }
}

TEST(FailurePolicy, B14_AFailureIsJudgedWhenTheLeasesOfTheOtherNodesAreRenewed) {
  auto job = workers(2);
  auto world = published(job, {exited(job, kWorker, 0, 1), running(job, kWorker, 1)});
  const auto first = plan_for(job, world);
  EXPECT_EQ(leases_read(first), std::set<std::string>{"node-1"});
  EXPECT_FALSE(stores_first(first));

  world.node_leases["node-1"] = {.renewed = kNow - seconds{5}};  // no sign of life since
  EXPECT_EQ(plan_for(job, world).requeue_after, seconds{2});
  EXPECT_FALSE(stores_first(plan_for(job, world)));
  world.node_leases["node-1"] = {.renewed = kNow + seconds{3}};  // it lives: the program failed
  EXPECT_FALSE(stores_first(plan_for(job, world, {}, kNow + seconds{6}))) << "or has just started";
  EXPECT_EQ(status_after(job, world, {}, kNow + seconds{7}).phase, "Failed");
  world.node_leases["node-1"] = {};  // nodes without leases: nothing to wait for
  EXPECT_EQ(status_after(job, world).phase, "Failed");
  world.node_leases["node-1"] = {.renewed = kNow - seconds{5}};
  const auto lost = status_after(job, world, {}, kNow + seconds{61});
  EXPECT_EQ(lost.phase, "Restarting");
  EXPECT_EQ(lost.disruptions, 1);
}

TEST(FailurePolicy, B14_ANodeThatRenewsItsLeaseLateMayHaveLostItsPod) {
  auto job = workers(2);
  auto world = published(job, {exited(job, kWorker, 0, 1), running(job, kWorker, 1)});
  world.node_leases["node-1"] = {.renewed = kNow + seconds{45}};
  const auto plan = plan_for(job, world, {}, kNow + seconds{46});
  EXPECT_FALSE(stores_first(plan));
  EXPECT_EQ(plan.requeue_after, seconds{2});
  world.node_leases["node-1"] = {.renewed =
                                     kNow + seconds{85}};  // its pod is still there: it never was
  EXPECT_EQ(status_after(job, world, {}, kNow + seconds{90}).phase, "Failed");
}

TEST(FailurePolicy, B29_ScalingARunningJobRestartsItWithoutCounting) {
  auto job = workers(2);
  job.status.phase = "Running";
  const auto world = published(job, all_of(job, running));
  job.spec.worker->replicas = 3;
  const auto plan = plan_for(job, world);
  ASSERT_TRUE(stores_first(plan));
  EXPECT_EQ(plan.status->epoch, 1);
  EXPECT_EQ(plan.status->disruptions + plan.status->failures, 0);
  EXPECT_EQ(reason(*plan.status), "SpecChanged");
}

TEST(FailurePolicy, B29_ScalingBeforeTheStartRestartsNothing) {
  auto job =
      job_with(R"({"intranet": "Service", "ps": {"replicas": 1}, "worker": {"replicas": 4}})");
  job.status.phase = "Pending";
  std::vector<api::Pod> pods;
  for (int i = 0; i < 3; ++i) pods.push_back(pending(job, kPs, i));
  for (int i = 0; i < 2; ++i) pods.push_back(pending(job, kWorker, i));
  const auto plan = plan_for(job, world_of(pods));
  EXPECT_EQ(deleted(plan), (Names{"demo-ps-1", "demo-ps-2"}));
  EXPECT_EQ(created(plan), (Names{"demo-worker-2", "demo-worker-3"}));
  EXPECT_FALSE(stores_first(plan));
}

TEST(FailurePolicy, TheMessageAboutAPodThatWentDownWithItsNodeDoesNotBlameTheImage) {
  using State = api::ContainerStatus::State;
  auto job = workers(1);
  auto down = exited(job, kWorker, 0, 137);
  down.init_containers = {{.name = kCoordinator,
                           .state = State::kTerminated,
                           .exit_code = 137,
                           .reason = "ContainerStatusUnknown"}};
  down.containers = {{.name = "main",
                      .state = State::kTerminated,
                      .exit_code = 137,
                      .reason = "ContainerStatusUnknown"}};
  const std::string message = failure_message(down);
  EXPECT_NE(message.find("its node was restarted while container coord-paddle ran"), message.npos);
  EXPECT_EQ(message.find("/bin/sh"), message.npos) << message;
  down.containers = {{.name = "main", .state = State::kTerminated, .exit_code = 3}};
  EXPECT_NE(failure_message(down).find("main ended with exit code 3"), message.npos);
}

TEST(FailurePolicy, TheMessageAboutAProgramThatDidNotStartHasTheReasonAndNoHintToItsEmptyLog) {
  auto job = workers(1);
  auto pod = exited(job, kWorker, 0, 128);
  pod.containers = {{.name = "main",
                     .state = api::ContainerStatus::State::kTerminated,
                     .exit_code = 128,
                     .reason = "StartError",
                     .message = "exec nonsense: No such file or directory"}};
  const std::string message = failure_message(pod);
  EXPECT_NE(message.find("(StartError): exec nonsense: No such file"), message.npos) << message;
  EXPECT_EQ(message.find("kubectl logs"), message.npos) << message;
}

TEST(FailurePolicy, OnASingleMachineDisruptionsAreNotCounted) {
  const Config own{.one_machine = true};
  auto job = workers(2);
  auto down = exited(job, kWorker, 0, 137);
  down.containers = {{.name = "c",
                      .state = api::ContainerStatus::State::kTerminated,
                      .exit_code = 137,
                      .reason = "ContainerStatusUnknown"}};
  const auto world = published(job, {down, running(job, kWorker, 1)});
  const auto status = status_after(job, world, own);
  EXPECT_EQ(status.phase, "Restarting");
  EXPECT_EQ(status.epoch, job.status.epoch + 1);
  EXPECT_EQ(status.disruptions, 0);
  EXPECT_FALSE(status.restart_time) << "there is no pause";

  job.spec.disruption_limit = 1;  // a limit of the job counts here as well
  EXPECT_EQ(status_after(job, world, own).disruptions, 1);
  job.spec.disruption_limit = 0;
  EXPECT_EQ(status_after(job, world, own).phase, "Failed");

  job.spec.disruption_limit.reset();
  const auto broken = published(job, {exited(job, kWorker, 0, 1), exited(job, kWorker, 1, 0)});
  EXPECT_EQ(status_after(job, broken, own).phase, "Failed") << "a program's failure is its own";
}

TEST(FailurePolicy, RestartsOfContainersInPlaceCountAgainstBackoffLimit) {
  auto job = workers(2, R"({"intranet": "Service", "backoffLimit": 2})");
  job.status.phase = "Running";
  const auto world = [&](int restarts) {
    return published(job, {running(job, kWorker, 0), crash_looping(job, kWorker, 1, restarts)});
  };
  // The program has failed twice and may be restarted once more.
  EXPECT_EQ(status_after(job, world(1)).phase, "Running");
  const auto failed = status_after(job, world(2));
  EXPECT_EQ(failed.phase, "Failed");
  EXPECT_EQ(reason(failed, "Failed"), "BackoffLimitExceeded");
  EXPECT_NE(api::find_condition(failed.conditions, "Failed")
                ->message.find("kubectl logs demo-worker-1 -c c --previous"),
            std::string::npos);

  job.status.failures = 1;  // a restart of the whole job counts as well
  EXPECT_EQ(status_after(job, world(1)).phase, "Failed");
}

TEST(FailurePolicy, RestartsOfAllContainersAreSummed) {
  auto job = workers(2, R"({"intranet": "Service", "backoffLimit": 3})");
  job.status.phase = "Running";
  const auto world =
      published(job, {crash_looping(job, kWorker, 0, 1), crash_looping(job, kWorker, 1, 1)});
  EXPECT_EQ(reason(status_after(job, world), "Failed"), "BackoffLimitExceeded");
}

TEST(FailurePolicy, WithoutABackoffLimitContainersAreRestartedWithoutEnd) {
  auto job = workers(1, R"({"intranet": "Service"})");
  job.status.phase = "Running";
  const auto status = status_after(job, published(job, {crash_looping(job, kWorker, 0, 99)}));
  EXPECT_EQ(status.phase, "Running");
  EXPECT_EQ(status.worker->restarts, 99);
  EXPECT_EQ(status.restarts, 99);
}

TEST(FailurePolicy, ARestartOfAContainerAfterARebootIsNotAFailure) {
  auto job = workers(1, R"({"intranet": "Service", "backoffLimit": 0})");
  job.status.phase = "Running";
  auto rebooted = running(job, kWorker, 0);
  rebooted.containers[0].restarts = 1;
  rebooted.containers[0].last_exit_code = 255;
  rebooted.containers[0].last_reason = "Unknown";
  EXPECT_EQ(status_after(job, published(job, {rebooted})).phase, "Running");
  rebooted.containers[0].last_exit_code = 1;
  rebooted.containers[0].last_reason = "Error";
  EXPECT_EQ(status_after(job, published(job, {rebooted})).phase, "Failed");
}

TEST(FailurePolicy, AContainerThatFailsWhileAPeerLeavesIsNotJudgedYet) {
  auto job = workers(2, R"({"intranet": "Service", "backoffLimit": 0})");
  job.status.phase = "Running";
  auto leaving = running(job, kWorker, 1);
  leaving.meta.deleted = kNow;
  const auto world = published(job, {crash_looping(job, kWorker, 0, 0), leaving});
  EXPECT_NE(status_after(job, world).phase, "Failed");
}

TEST(SuccessPolicy, TheChiefAnyOrAllWorkersCompleteTheJob) {
  const struct {
    const char* policy;
    int succeeded;  // this worker of two
    bool complete;
  } cases[] = {{R"({})", 0, false},
               {R"({"successPolicy": "All"})", 0, false},
               {R"({"successPolicy": "Chief"})", 0, true},
               {R"({"successPolicy": "Chief"})", 1, false},
               {R"({"successPolicy": "Any"})", 0, true},
               {R"({"successPolicy": "Any"})", 1, true}};
  for (const auto& c : cases) {
    auto job = workers(2, c.policy);
    job.status.phase = "Running";
    auto pods = all_of(job, running);
    pods[static_cast<size_t>(c.succeeded)] = exited(job, kWorker, c.succeeded, 0);
    const auto status = status_after(job, published(job, pods));
    EXPECT_EQ(status.phase, c.complete ? "Completed" : "Running") << c.policy << c.succeeded;
  }
}

TEST(SuccessPolicy, TheChiefOfACustomJobIsThePodOfItsFirstTask) {
  auto job = job_with(R"({"mode": "Custom", "successPolicy": "Chief", "tasks": [
      {"name": "client", "replicas": 1}, {"name": "server", "replicas": 1}]})");
  job.status.phase = "Running";
  auto pods = all_of(job, running);
  pods[0].phase = api::PodPhase::kSucceeded;
  auto status = status_after(job, published(job, pods));
  EXPECT_EQ(status.phase, "Completed");
  job.status = status;
  job.spec.clean_pod_policy = "Never";
  EXPECT_EQ(deleted(plan_for(job, published(job, pods))), Names{"demo-server-0"});
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
