// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/plan.h"

#include <algorithm>

#include "controllers/paddle_job/decide/pod_facts.h"
#include "controllers/paddle_job/testing/plan_fixture.h"

namespace paddle::controllers::paddle_job {
namespace {

using namespace std::chrono_literals;

constexpr auto kPs = RoleKind::kPs;
constexpr auto kWorker = RoleKind::kWorker;

TEST(PaddleJobPlan, CreatesEveryMissingPodInOneWave) {
  const auto job = ps_job();
  const auto plan = plan_for(job, world_of({pending(job, kWorker, 1)}));
  EXPECT_EQ(created(plan), (Names{"wad-ps-0", "wad-ps-1", "wad-worker-0"}));
  EXPECT_EQ(plan.waves.size(), 1u);
}

TEST(PaddleJobPlan, OnlyNewsOfAJobOnItsWayGivesWay) {
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

TEST(PaddleJobPlan, APodOfAJobThatHasBegunIsConfirmedMissingWhateverThePhaseSays) {
  auto job = workers(2, R"({"intranet": "Service"})");
  job.status = status_after(job, world_of(all_of(job, pending)));
  ASSERT_EQ(job.status.phase, "Pending");
  EXPECT_FALSE(confirms_pods(plan_for(job, world_of({pending(job, kWorker, 0)}))));
  EXPECT_TRUE(confirms_pods(plan_for(job, published(job, {running(job, kWorker, 0)}))));
}

TEST(PaddleJobPlan, NobodyIsLetGoWithAListThatNamesAnotherAddressWhileAFailureIsJudged) {
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

TEST(PaddleJobPlan, ScalingDownBeforeTheStartRemovesTheHighestIndexByUid) {
  const auto job = workers(1);
  const auto plan = plan_for(job, world_of({pending(job, kWorker, 0), pending(job, kWorker, 1)}));
  ASSERT_EQ(only<Delete>(plan).size(), 1u);
  EXPECT_EQ(only<Delete>(plan)[0].uid, "wad-worker-1@0");
}

TEST(PaddleJobPlan, NobodyIsReleasedBeforeTheLastAddressIsKnown) {
  const auto job = workers(2);
  auto late = coordinated(job, kWorker, 1);
  late.ip.clear();
  const auto held = plan_for(job, world_of({coordinated(job, kWorker, 0), late}));
  EXPECT_TRUE(held.waves.empty());

  const auto plan = plan_for(job, world_of(all_of(job, coordinated)));
  // The map must be there before anybody goes on.
  ASSERT_EQ(plan.waves.size(), 2u);
  EXPECT_EQ(created(plan, OwnedKind::kConfigMap), Names{"wad"});
  EXPECT_TRUE(std::holds_alternative<Create>(plan.waves[0][0]));
  EXPECT_EQ(released(plan), (Names{"wad-worker-0", "wad-worker-1"}));
  EXPECT_EQ(only<ReleasePod>(plan)[0].value, "0/10.0.1.1");
}

TEST(PaddleJobPlan, WhoDidNotHearItsReleaseIsToldAgainEverMoreSlowly) {
  const auto job = workers(1);
  auto pod = coordinated(job, kWorker, 0);
  const auto told = only<ReleasePod>(plan_for(job, published(job, {pod})));
  ASSERT_EQ(told.size(), 1u);
  pod.meta.annotations[kReleaseAnnotation] = told[0].value;
  pod.meta.annotations[kReleasedAtAnnotation] = told[0].stamp;
  WallTime now = kNow;
  for (const int pause : {5, 10, 20, 40, 60, 60}) {
    const auto early = plan_for(job, published(job, {pod}), {}, now + 1s);
    EXPECT_EQ(released(early), Names{});
    EXPECT_EQ(early.requeue_after, std::chrono::seconds{pause - 1});
    now += std::chrono::seconds{pause};
    const auto again = only<ReleasePod>(plan_for(job, published(job, {pod}), {}, now));
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(again[0].value, told[0].value);
    EXPECT_NE(again[0].stamp, pod.meta.annotations[kReleasedAtAnnotation]);
    pod.meta.annotations[kReleasedAtAnnotation] = again[0].stamp;
  }
  // A clock that was set back does not silence it.
  EXPECT_EQ(released(plan_for(job, published(job, {pod}), {}, kNow)), Names{"wad-worker-0"});
  // It has gone on, or its own init containers are still at work: nothing to say.
  pod.init_containers[0].state = api::ContainerStatus::State::kTerminated;
  EXPECT_EQ(released(plan_for(job, published(job, {pod}), {}, now + 1h)), Names{});
}

TEST(PaddleJobPlan, ServersAreReleasedFirstThenWorkersThenHeterogeneousTrainers) {
  auto job =
      job_with(R"({"ps": {"replicas": 1}, "worker": {"replicas": 1}, "heter": {"replicas": 1}})");
  auto pods = all_of(job, coordinated);
  EXPECT_EQ(released(plan_for(job, published(job, pods))), Names{"wad-ps-0"});
  pods[0] = running(job, kPs, 0);
  EXPECT_EQ(released(plan_for(job, published(job, pods))), Names{"wad-worker-0"});
  pods[1] = running(job, kWorker, 0);
  EXPECT_EQ(released(plan_for(job, published(job, pods))), Names{"wad-heter-0"});
  pods[2] = running(job, RoleKind::kHeter, 0);
  EXPECT_EQ(released(plan_for(job, published(job, pods))), Names{});
}

TEST(PaddleJobPlan, AServerThatIsNotReadyHoldsTheWorkersBack) {
  const auto job = ps_job();
  auto pods = all_of(job, coordinated);
  pods[0] = running(job, kPs, 0);
  pods[1] = running(job, kPs, 1);
  pods[1].containers[0].ready = false;
  EXPECT_EQ(released(plan_for(job, published(job, pods))), Names{});
}

TEST(PaddleJobPlan, APodOfAServiceJobThatComesBackUnderAnotherAddressIsReleasedAnew) {
  const auto job = workers(2, R"({"intranet": "Service"})");
  auto back = coordinated(job, kWorker, 1);
  back.meta.annotations[kReleaseAnnotation] = "0/10.9.9.9";
  const auto plan = plan_for(job, published(job, {running(job, kWorker, 0), back}));
  EXPECT_EQ(released(plan), Names{"wad-worker-1"});
  EXPECT_EQ(only<ReleasePod>(plan)[0].value, "0/10.0.1.2");
  EXPECT_FALSE(stores_first(plan));
}

TEST(PaddleJobPlan, PhasesFollowThePods) {
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

TEST(PaddleJobPlan, ThePhaseVectorsOfTheContract) {
  const auto job = ps_job();
  const auto phase = [&](std::vector<api::Pod> pods, const char* last) {
    auto seen = job;
    seen.status.phase = last;
    return status_after(seen, published(job, std::move(pods))).phase;
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

TEST(PaddleJobPlan, TheEndIsStoredBeforeAnythingIsCleaned) {
  const auto job = workers(1);
  const auto plan = plan_for(job, published(job, {exited(job, kWorker, 0, 0)}));
  EXPECT_TRUE(stores_first(plan));
  EXPECT_TRUE(plan.waves.empty());
  ASSERT_TRUE(plan.status);
  EXPECT_EQ(plan.status->phase, "Completed");
  EXPECT_EQ(plan.status->completion_time, kNow);
  EXPECT_EQ(reason(*plan.status, "Complete"), "Completed");
}

TEST(PaddleJobPlan, TheCleaningVectorsOfTheContract) {
  const struct {
    const char* policy;
    bool after_success, after_failure;
  } cases[] = {{R"({})", true, false},
               {R"({"cleanPodPolicy":"Always"})", true, true},
               {R"({"cleanPodPolicy":"OnCompletion"})", true, false},
               {R"({"cleanPodPolicy":"OnFailure"})", false, true},
               {R"({"cleanPodPolicy":"Never"})", false, false},
               {R"({"cleanPodPolicy":"OnFailed"})", false, false}};
  for (const auto& c : cases) {
    auto job = workers(1, c.policy);
    job.status.phase = "Completed";
    EXPECT_EQ(!deleted(plan_for(job, published(job, {exited(job, kWorker, 0, 0)}))).empty(),
              c.after_success)
        << c.policy;
    job.status.phase = "Failed";
    EXPECT_EQ(!deleted(plan_for(job, published(job, {exited(job, kWorker, 0, 1)}))).empty(),
              c.after_failure)
        << c.policy;
  }
}

TEST(PaddleJobPlan, CleaningTakesPodsServicesAndTheConfigMap) {
  auto job = workers(1, R"({"intranet": "Service"})");
  job.status.phase = "Completed";
  auto world = published(job, {exited(job, kWorker, 0, 0)});
  world.services = {{.meta = {.key = {"t", "wad-worker-0"}, .uid = "s"}}};
  const auto plan = plan_for(job, world);
  EXPECT_EQ(deleted(plan), Names{"wad-worker-0"});
  EXPECT_EQ(deleted(plan, OwnedKind::kService), Names{"wad-worker-0"});
  EXPECT_EQ(deleted(plan, OwnedKind::kConfigMap), Names{"wad"});
}

TEST(PaddleJobPlan, AFinishedJobNeverCreatesAnything) {
  for (const char* phase : {"Completed", "Failed"}) {
    auto job = workers(2, R"({"intranet": "Service"})");
    job.status.phase = phase;
    EXPECT_TRUE(plan_for(job, World{}).waves.empty());
  }
}

TEST(PaddleJobPlan, ADeletedJobIsLeftToTheGarbageCollector) {
  auto job = workers(3);
  job.meta.deleted = kNow;
  job.status.phase = "Terminating";
  EXPECT_EQ(plan_for(job, World{}), Plan{});
  job.status.phase = "Running";
  EXPECT_EQ(plan_for(job, World{}).status->phase, "Terminating");
  EXPECT_TRUE(plan_for(job, World{}).waves.empty());
}

TEST(PaddleJobPlan, TheFinalizerOfOlderOperatorsIsTakenOff) {
  auto job = workers(1);
  job.meta.finalizers = {"other", kFinalizer};
  EXPECT_EQ(only<RemoveFinalizer>(plan_for(job, World{})).size(), 1u);
  job.meta.deleted = kNow;
  EXPECT_EQ(only<RemoveFinalizer>(plan_for(job, World{})).size(), 1u);
}

TEST(PaddleJobPlan, WaitsForItsSamplesAndSaysSo) {
  auto job = workers(2, R"({"sampleSetRef": {"name": "imagenet", "mountPath": "/data"}})");
  const auto plan = plan_for(job, World{});
  EXPECT_TRUE(created(plan).empty());
  EXPECT_FALSE(reason(*plan.status).empty());
  EXPECT_NE(reason(*plan.status), "WaitingForPods");
}

TEST(PaddleJobPlan, SaysWhichPodCanNotStartAndWhy) {
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
            "ImagePullBackOff: container main of pod wad-worker-1 can not start: ImagePullBackOff; "
            "see kubectl describe pod wad-worker-1");
  pod.containers.clear();
  pod.unschedulable = "0/3 nodes are available: 3 Insufficient cpu.";
  EXPECT_EQ(says(pod),
            "Unschedulable: no node takes pod wad-worker-1: 0/3 nodes are available: 3 "
            "Insufficient cpu.");
}

TEST(PaddleJobPlan, ASuspendedJobSaysHowManyPodsAreLeft) {
  auto job = workers(2, R"({"suspend": true})");
  job.status.phase = "Suspended";
  const auto says = [&](std::vector<api::Pod> pods) {
    const auto status = status_after(job, world_of(std::move(pods)));
    return api::find_condition(status.conditions, "Suspended")->message;
  };
  EXPECT_EQ(says({running(job, kWorker, 0), running(job, kWorker, 1)}),
            "waiting for 2 pods to be gone");
  EXPECT_EQ(says({running(job, kWorker, 1)}), "waiting for 1 pod to be gone");
  EXPECT_EQ(says({}), "the job has no pods");
}

TEST(PaddleJobPlan, APodThatWeDeletedIsWaitedForWithoutAnAppointmentUntilItsEndIsKnown) {
  auto job = workers(1);
  job.status.epoch = 1;
  auto old = running(job, RoleKind::kWorker, 0);
  old.meta.annotations[kEpochAnnotation] = "0";
  old.meta.deleted = kSoonGone;
  EXPECT_FALSE(plan_for(job, world_of({old})).requeue_after);
  old.meta.deleted = kNow + std::chrono::seconds{30};
  EXPECT_EQ(plan_for(job, world_of({old})).requeue_after, std::chrono::seconds{45});
}

TEST(PaddleJobPlan, DoesNotDependOnTheOrderOfPods) {
  const auto job = workers(2);
  std::vector<api::Pod> pods{running(job, kWorker, 0), running(job, kWorker, 1),
                             running(job, kWorker, 2)};
  const auto plan = plan_for(job, world_of(pods));
  std::ranges::reverse(pods);
  EXPECT_EQ(plan, plan_for(job, world_of(pods)));
}

TEST(PaddleJobPlan, APodOfALaterEpochMeansThatOurViewOfTheJobIsOld) {
  auto job = workers(2);
  auto later = job;
  later.status.epoch = 1;
  EXPECT_EQ(plan_for(job, world_of({pending(later, kWorker, 0)})), Plan{});
}

TEST(PaddleJobPlan, StatusHasNoResourceVersionsAndSelectsTheWorkersForScale) {
  const auto job = ps_job();
  const auto status = status_after(job, published(job, all_of(job, running)));
  ASSERT_EQ(status.worker->refs.size(), 2u);
  EXPECT_EQ(status.worker->refs[0].name, "wad-worker-0");
  EXPECT_EQ(status.worker->refs[0].resource_version, "");
  EXPECT_EQ(status.replicas, 2);
  EXPECT_EQ(status.selector, "batch.paddlepaddle.org/job-name=wad,paddle-res-type=worker");
  EXPECT_EQ(status.observed_generation, 1);
  EXPECT_EQ(status.mode, "PS");
  EXPECT_EQ(status.start_time, kNow);
}

TEST(PaddleJobPlan, OnlyWhatUsersWaitForIsNews) {
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

TEST(PaddleJobPlan, APodThatWentDownWithItsNodeIsNotBlamedOnTheImage) {
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
  const std::string said = failure_message(down);
  EXPECT_NE(said.find("its node was restarted while container coord-paddle ran"), said.npos);
  EXPECT_EQ(said.find("/bin/sh"), said.npos) << said;
  down.containers = {{.name = "main", .state = State::kTerminated, .exit_code = 3}};
  EXPECT_NE(failure_message(down).find("main ended with exit code 3"), said.npos);
}

TEST(PaddleJobPlan, OnOneMachineDisruptionsAreItsOwnersAndNotCounted) {
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

  job.spec.disruption_limit = 1;  // what a job says itself holds here too
  EXPECT_EQ(status_after(job, world, own).disruptions, 1);
  job.spec.disruption_limit = 0;
  EXPECT_EQ(status_after(job, world, own).phase, "Failed");

  job.spec.disruption_limit.reset();
  const auto broken = published(job, {exited(job, kWorker, 0, 1), exited(job, kWorker, 1, 0)});
  EXPECT_EQ(status_after(job, broken, own).phase, "Failed") << "a program's failure is its own";
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
