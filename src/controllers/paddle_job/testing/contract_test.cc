// SPDX-License-Identifier: Apache-2.0
//
// The defects of the Go operator, by the numbers under which they are listed, and what happens
// instead. B26 (broken charts) and B30 (no tests) are not the plan's; B20 and B29 are the CRD's
// too; B27 (events) is in refusals_test.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/crd/validate.h"
#include "controllers/paddle_job/objects/pod.h"
#include "controllers/paddle_job/spec/validation.h"
#include "controllers/paddle_job/testing/plan_fixture.h"
#include "controllers/placement/data_gate.h"

namespace paddle::controllers::paddle_job {
namespace {

using api::Json;
using std::chrono::seconds;
constexpr auto kPs = RoleKind::kPs;
constexpr auto kWorker = RoleKind::kWorker;
constexpr auto kHeter = RoleKind::kHeter;

api::PaddleJob with_port(api::PaddleJob job, int port) {
  job.status.port = port;
  return job;
}
std::map<std::string, std::string> data_of(const api::PaddleJob& job) {
  return peer_data(job, addresses(job, assign_pods(job, world_of(all_of(job, running)).pods)));
}
Json manifest_of(const Plan& plan, const std::string& name, OwnedKind kind = OwnedKind::kPod) {
  for (const Create& a : only<Create>(plan)) {
    if (a.kind == kind && a.key.name == name) return *a.manifest;
  }
  return {};
}

TEST(Contract, B1_ServiceModeUsesOnePortEverywhereAndItsServicesCoverIt) {
  const auto job = ps_job(R"({"intranet": "Service"})");
  const auto data = data_of(job);
  const std::string port = data.at("PADDLE_PORT");
  EXPECT_EQ(data.at("PADDLE_PSERVERS_IP_PORT_LIST"), "wad-ps-0:" + port + ",wad-ps-1:" + port);
  const Json ports = service_for(job, replica_groups(job.spec).front(), 0)["spec"]["ports"];
  ASSERT_EQ(ports.size(), 20u);
  EXPECT_EQ(std::to_string(ports[0]["port"].get<int>()), port);
  EXPECT_EQ(ports[19]["port"].get<int>(), std::stoi(port) + 19);
  EXPECT_EQ(ports[19]["name"], "p-19");
}

TEST(Contract, B2_GlooListensEighteenPortsFurtherInEveryIntranet) {
  EXPECT_EQ(data_of(ps_job(R"({"withGloo": 1})")).at("PADDLE_GLOO_HTTP_ENDPOINT"),
            "10.0.0.1:36018");
  EXPECT_EQ(
      data_of(ps_job(R"({"withGloo": 2, "intranet": "Service"})")).at("PADDLE_GLOO_HTTP_ENDPOINT"),
      "wad-ps-0:36018");
  EXPECT_EQ(data_of(with_port(ps_job(R"({"withGloo": 1, "intranet": "Host"})"), 41000))
                .at("PADDLE_GLOO_HTTP_ENDPOINT"),
            "10.0.0.1:41018");
  EXPECT_FALSE(data_of(workers(2, R"({"withGloo": 1})")).contains("PADDLE_WITH_GLOO"));
}

TEST(Contract, B3_HostModeSaysTheSamePortInListsAndInPaddlePort) {
  const auto data = data_of(with_port(ps_job(R"({"intranet": "Host"})"), 35040));
  EXPECT_EQ(data.at("PADDLE_PORT"), "35040");
  EXPECT_EQ(data.at("PADDLE_TRAINER_ENDPOINTS"), "10.0.1.1:35040,10.0.1.2:35040");
}

TEST(Contract, B4_HostPodsResolveClusterNamesAndNobodyWaitsForDns) {
  const auto job = with_port(workers(1, R"({"intranet": "Host"})"), 35040);
  const Json pod = manifest_of(plan_for(job, {}), "wad-worker-0");
  EXPECT_EQ(pod["spec"]["dnsPolicy"], "ClusterFirstWithHostNet");
  const std::string script = pod["spec"]["initContainers"][0]["command"][2];
  EXPECT_EQ(script.find("nslookup"), std::string::npos);
}

TEST(Contract, B5_ABadSpecIsAnsweredWithASentenceAndNothingIsMade) {
  const char* bad[] = {
      R"({"worker": {"replicas": 1, "template": {}}})",
      R"({"worker": {"replicas": 1, "template": {"spec": {"containers": []}}}})",
      R"({"elastic": 1, "ps": {"replicas": 0}})",
      R"({"worker": {"replicas": -1}})",
      R"({})",
      R"({"worker": {"replicas": 0}})",
      R"({"intranet": "Carrier pigeon", "worker": {"replicas": 1}})",
      R"({"sampleSetRef": {"name": "", "mountPath": "/d"}, "worker": {"replicas": 1}})",
      R"({"sampleSetRef": {"name": "a", "mountPath": "d:"}, "worker": {"replicas": 1}})",
      R"({"sampleSetRef": {"name": "a", "namespace": "other", "mountPath": "/d"},
          "worker": {"replicas": 1}})",
  };
  for (const char* spec : bad) {
    const auto plan = plan_for(job_with(spec), {});
    EXPECT_TRUE(plan.waves.empty()) << spec;
    ASSERT_TRUE(plan.status) << spec;
    const auto* ready = api::find_condition(plan.status->conditions, "Ready");
    ASSERT_NE(ready, nullptr) << spec;
    EXPECT_EQ(ready->status, "False") << spec;
    EXPECT_FALSE(ready->message.empty()) << spec;
    EXPECT_FALSE(plan.requeue_after) << spec;  // only another spec helps: never a hot loop
  }
  EXPECT_EQ(reason(status_after(job_with(bad[0]), {})), "InvalidSpec");
  // A job on the host network without any annotation is as good as any.
  EXPECT_TRUE(stores_first(plan_for(workers(1, R"({"intranet": "Host"})"), {})));
}

TEST(Contract, B5_ANameThatIsTooLongIsAnswered) {
  const auto job = job_with(R"({"worker": {"replicas": 1}})", std::string(60, 'a'));
  EXPECT_EQ(reason(status_after(job, {})), "InvalidSpec");
  EXPECT_TRUE(plan_for(job, {}).waves.empty());
}

TEST(Contract, B6_WhatTheServerRefusesIsSaidInACondition) {
  World world;
  world.trouble = BlockReason{"Refused", "exceeded quota: pods"};
  const auto status = status_after(workers(1), world);
  EXPECT_EQ(reason(status), "Refused");
  EXPECT_EQ(api::find_condition(status.conditions, "Ready")->message, "exceeded quota: pods");
}

TEST(Contract, B7_AFinishedJobCreatesNothingWhateverIsDeleted) {
  for (const char* phase : {"Completed", "Failed"}) {
    auto job = ps_job(R"({"cleanPodPolicy": "Never"})");
    job.status.phase = phase;
    EXPECT_TRUE(created(plan_for(job, published(job, {exited(job, kWorker, 0, 1)}))).empty());
  }
}

TEST(Contract, B7_AJobThatFailedEarlyStopsCreatingAndTakesBackWhatNeverBegan) {
  auto job = workers(3, R"({"cleanPodPolicy": "Never"})");
  auto early = exited(job, kWorker, 0, 1);  // in an init container of the user's
  early.meta.annotations.erase(kReleaseAnnotation);
  const auto world = world_of({early, pending(job, kWorker, 1)});
  const auto plan = plan_for(job, world);
  EXPECT_EQ(plan.status->phase, "Failed");
  EXPECT_TRUE(plan.waves.empty());
  job.status = *plan.status;
  EXPECT_EQ(deleted(plan_for(job, world)), Names{"wad-worker-1"});
}

TEST(Contract, B8_NothingIsMadeForADeletedJobFinishedOrNot) {
  for (const char* phase : {"", "Running", "Completed"}) {
    auto job = workers(2);
    job.meta.deleted = kNow;
    job.meta.finalizers = {"foregroundDeletion"};
    job.status.phase = phase;
    EXPECT_TRUE(plan_for(job, {}).waves.empty()) << phase;
  }
}

TEST(Contract, B9_PsJobsCompleteWithTheirWorkersAndThenStopTheServers) {
  auto job = ps_job(R"({"cleanPodPolicy": "Never"})");
  const auto world = published(job, {running(job, kPs, 0), running(job, kPs, 1),
                                     exited(job, kWorker, 0, 0), exited(job, kWorker, 1, 0)});
  job.status = status_after(job, world);
  EXPECT_EQ(job.status.phase, "Completed");
  EXPECT_EQ(deleted(plan_for(job, world)), (Names{"wad-ps-0", "wad-ps-1"}));
}

TEST(Contract, B10_AnotherAddressIsAnotherEpochForAllWithAnotherConfigMap) {
  auto job = workers(2);
  job.status.phase = "Running";
  auto world = published(job, all_of(job, running));
  auto moved = running(job, kWorker, 1);
  moved.ip = "10.9.9.9";
  world.pods[1] = std::make_shared<const api::Pod>(moved);
  const auto plan = plan_for(job, world);
  ASSERT_TRUE(stores_first(plan));  // first the epoch, then the deeds
  EXPECT_EQ(plan.status->epoch, 1);
  EXPECT_EQ(plan.status->disruptions, 1);
  EXPECT_EQ(plan.status->phase, "Restarting");

  job.status = *plan.status;
  EXPECT_EQ(deleted(plan_for(job, world)), (Names{"wad-worker-0", "wad-worker-1"}));
  EXPECT_TRUE(created(plan_for(job, world)).empty());  // their names are still in use
  world.pods.clear();
  EXPECT_EQ(created(plan_for(job, world)), (Names{"wad-worker-0", "wad-worker-1"}));
  auto next = world_of(all_of(job, coordinated));
  next.peer_config = world.peer_config;
  const auto again = plan_for(job, next);
  ASSERT_EQ(only<Replace>(again).size(), 1u);
  EXPECT_EQ((*only<Replace>(again)[0].manifest)["metadata"]["resourceVersion"], "7");
  EXPECT_EQ(only<ReleasePod>(again)[0].value, "1/10.0.1.1");
}

TEST(Contract, B10_AServiceJobOutlivesThePodThatMoves) {
  auto job = ps_job(R"({"intranet": "Service"})");
  job.status.phase = "Running";
  auto world =
      published(job, {running(job, kPs, 0), running(job, kPs, 1), running(job, kWorker, 0)});
  for (const auto& name : {"wad-ps-0", "wad-ps-1", "wad-worker-0", "wad-worker-1"}) {
    world.services.push_back({.meta = {.key = {"t", name}, .uid = name}});
  }
  EXPECT_TRUE(confirms_pods(plan_for(job, world)));  // is it really gone?
  world.confirmed = true;
  const auto plan = plan_for(job, world);
  EXPECT_EQ(created(plan), Names{"wad-worker-1"});
  EXPECT_FALSE(stores_first(plan));
}

TEST(Contract, B11_ElasticJobsFollowTheirReplicasWithoutARestart) {
  const Config config{.etcd = {"http://e:2379"}};
  auto job = workers(3, R"({"elastic": 1, "worker": {"replicas": 3, "requests": 1, "limits": 4}})");
  job.status.phase = "Running";
  auto pods = all_of(job, running);
  for (api::Pod& pod : pods) pod.init_containers.clear();  // elastic pods wait for nobody
  auto world = world_of(pods);
  job.spec.worker->replicas = 1;
  const auto down = plan_for(job, world, config);
  EXPECT_EQ(deleted(down), (Names{"wad-worker-1", "wad-worker-2"}));
  EXPECT_TRUE(reads_etcd(down));
  EXPECT_FALSE(stores_first(down));
  job.spec.worker->replicas = 4;
  world.confirmed = true;
  const auto up = plan_for(job, world, config);
  EXPECT_EQ(created(up), Names{"wad-worker-3"});
  EXPECT_TRUE(created(up, OwnedKind::kConfigMap).empty());
  const Json env = manifest_of(up, "wad-worker-3")["spec"]["containers"][0]["env"];
  EXPECT_NE(env.dump().find(R"("PADDLE_ELASTIC_NP","value":"1:4")"), std::string::npos) << env;
}

TEST(Contract, B11_AJobThatBeganWithoutAnEtcdIsElasticOnlyWhenItBeginsAnew) {
  const Config config{.etcd = {"http://e:2379"}};
  auto job = workers(2, R"({"elastic": 1})");
  const auto waiting = plan_for(job, world_of(all_of(job, coordinated)), config);
  EXPECT_EQ(released(waiting).size(), 2u) << "its pods wait for a release, and for no etcd";
  EXPECT_FALSE(reads_etcd(waiting));

  auto world = published(job, all_of(job, running));
  job.status = status_after(job, world, config);
  EXPECT_EQ(plan_for(job, world, config), Plan{});
  EXPECT_EQ(reason(job.status, "Warning"), "CheckSpec");
  world.pods.pop_back();
  world.confirmed = true;
  const auto lost = plan_for(job, world, config);
  ASSERT_TRUE(stores_first(lost)) << "no elastic pod joins a run of ordinary ones";
  EXPECT_EQ(lost.status->epoch, 1);
  job.status = *lost.status;
  world.pods.clear();
  const auto anew = plan_for(job, world, config);
  EXPECT_EQ(created(anew).size(), 2u);
  EXPECT_TRUE(reads_etcd(anew));
  EXPECT_FALSE(manifest_of(anew, "wad-worker-0")["spec"].contains("initContainers"));
}

TEST(Contract, B11_NoElasticPodIsMadeBeforeEtcdIsClean) {
  const Config config{.etcd = {"http://e:2379"}};
  auto job = workers(2, R"({"elastic": 1})");
  World world;
  world.elastic.leftovers = ElasticState::Leftovers::kPossible;
  const auto plan = plan_for(job, world, config);
  EXPECT_EQ(only<CleanElasticState>(plan).size(), 1u);
  EXPECT_TRUE(created(plan).empty());
  EXPECT_EQ(reason(*plan.status), "EtcdUnavailable");
  auto one = running(job, kWorker, 0);
  one.init_containers.clear();
  world.pods = world_of({one}).pods;  // made by an operator that was killed: etcd is in use
  EXPECT_TRUE(only<CleanElasticState>(plan_for(job, world, config)).empty());
  EXPECT_EQ(created(plan_for(job, world, config)), Names{"wad-worker-1"});
  EXPECT_TRUE(only<CleanElasticState>(plan_for(workers(2), world, config)).empty());
}

TEST(Contract, B12_FailedComesBeforeStartingWhateverTheOrderOfRoles) {
  const auto job = ps_job();
  for (const RoleKind bad : {kPs, kWorker}) {
    auto pods = all_of(job, pending);
    pods[bad == kPs ? 0 : 2] = exited(job, bad, 0, 1);
    EXPECT_EQ(status_after(job, world_of(pods)).phase, "Failed");
  }
}

TEST(Contract, B13_TheStatusFollowsFromWhatIsSeenNowAndIsWrittenOnlyWhenItDiffers) {
  auto job = ps_job();
  const auto world = published(job, all_of(job, running));
  job.status = status_after(job, world);
  EXPECT_EQ(job.status.phase, "Running");
  EXPECT_EQ(job.status.worker->running, 2);
  EXPECT_EQ(job.status.start_time, kNow);
  EXPECT_EQ(plan_for(job, world, {}, kNow + seconds{60}), Plan{});
}

TEST(Contract, B14_EvictionsAreRetriedThreeTimesAndDoNotCountAsFailures) {
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

TEST(Contract, B14_TheProgramsOwnExitCodeFailsTheJobUnlessBackoffLimitSaysOtherwise) {
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

TEST(Contract, B14_ProgramsThatFailBecauseAPeerWasTakenAwayAreNotToBlame) {
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

TEST(Contract, B14_ANodeThatDiesWithItsPodIsWaitedForBeforeTheProgramIsBlamed) {
  auto job = workers(2);
  auto world = published(job, {exited(job, kWorker, 0, 1), running(job, kWorker, 1)});
  const auto ask = plan_for(job, world);
  EXPECT_EQ(leases_read(ask), std::set<std::string>{"node-1"});
  EXPECT_FALSE(stores_first(ask));

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

TEST(Contract, B14_PodsThatWentDownWithTheirNodeAreNotTheProgramsFailure) {
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

TEST(Contract, B14_ANodeThatIsHeardOfLateMayHaveLostItsPod) {
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

TEST(Contract, B14_APodThatStartsAgainExcusesThePeersThatLostIt) {
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

TEST(Contract, B14_APodOnADeadNodeDoesNotHoldUpTheRestart) {
  auto job = workers(1);
  auto dead = running(job, kWorker, 0);
  dead.meta.deleted = kNow - seconds{20};
  job.status.epoch = 1;
  auto world = world_of({dead});
  EXPECT_EQ(leases_read(plan_for(job, world)), std::set<std::string>{"node-0"});
  world.node_leases["node-0"] = {.renewed = kNow - seconds{5}};
  EXPECT_TRUE(only<Delete>(plan_for(job, world)).empty());
  world.node_leases["node-0"] = {.renewed = kNow - seconds{50}};
  ASSERT_EQ(only<Delete>(plan_for(job, world)).size(), 1u);
  EXPECT_TRUE(only<Delete>(plan_for(job, world))[0].force);
}

TEST(Contract, B14_RestartsWaitLongerEachTime) {
  auto job = workers(1, R"({"backoffLimit": 9})");
  job.status.epoch = 3;
  job.status.failures = 3;
  job.status.restart_time = kNow;
  const auto plan = plan_for(job, {});
  EXPECT_TRUE(created(plan).empty());
  EXPECT_EQ(plan.requeue_after, seconds{20});
  EXPECT_EQ(plan.status->phase, "Restarting");
  EXPECT_EQ(created(plan_for(job, {}, {}, kNow + seconds{20})), Names{"wad-worker-0"});
}

TEST(Contract, B14_TheDeadlineFailsTheJobAndStopsWhatRuns) {
  auto job = workers(2, R"({"activeDeadlineSeconds": 60, "cleanPodPolicy": "Never"})");
  const auto world = published(job, all_of(job, running));
  EXPECT_EQ(plan_for(job, world).requeue_after, seconds{60});
  const auto late = status_after(job, world, {}, kNow + seconds{60});
  EXPECT_EQ(late.phase, "Failed");
  EXPECT_EQ(reason(late, "Failed"), "DeadlineExceeded");
  job.status = late;
  EXPECT_EQ(deleted(plan_for(job, world)), (Names{"wad-worker-0", "wad-worker-1"}));
}

TEST(Contract, B14_TheTimeASuspendedJobWaitedDoesNotCountAgainstItsDeadline) {
  auto job = workers(1, R"({"activeDeadlineSeconds": 60, "suspend": true})");
  job.status = status_after(job, {});
  ASSERT_EQ(job.status.phase, "Suspended");

  job.spec.suspend = false;
  const auto resumed = kNow + seconds{600};
  const auto plan = plan_for(job, {}, {}, resumed);
  EXPECT_EQ(created(plan), Names{"wad-worker-0"});
  EXPECT_EQ(plan.requeue_after, seconds{60});
  ASSERT_TRUE(plan.status);
  job.status = *plan.status;
  EXPECT_EQ(plan_for(job, {}, {}, resumed + seconds{10}).requeue_after, seconds{50});
  const auto late = status_after(job, {}, {}, resumed + seconds{60});
  EXPECT_EQ(reason(late, "Failed"), "DeadlineExceeded");

  job.spec.suspend = true;  // once more, when the time it had has long passed
  job.status = status_after(job, {}, {}, resumed + seconds{30});
  job.spec.suspend = false;
  EXPECT_EQ(status_after(job, {}, {}, resumed + seconds{900}).phase, "Pending");
}

TEST(Contract, B14_AFinishedJobIsDeletedWhenItsTimeToLiveHasPassed) {
  auto job = workers(1, R"({"ttlSecondsAfterFinished": 100})");
  job.status.phase = "Completed";
  job.status.completion_time = kNow;
  EXPECT_EQ(plan_for(job, {}).requeue_after, seconds{100});
  EXPECT_TRUE(only<DeleteJob>(plan_for(job, {})).empty());
  EXPECT_EQ(only<DeleteJob>(plan_for(job, {}, {}, kNow + seconds{100})).size(), 1u);
}

TEST(Contract, B14_ASuspendedJobHasNoPodsAndGoesOnInAnotherEpoch) {
  auto job = workers(2, R"({"suspend": true})");
  EXPECT_EQ(status_after(job, {}).phase, "Suspended");
  EXPECT_TRUE(plan_for(job, {}).waves.empty());

  job.status.phase = "Running";
  auto world = published(job, all_of(job, running));
  const auto plan = plan_for(job, world);
  ASSERT_TRUE(stores_first(plan));
  EXPECT_EQ(plan.status->epoch, 1);
  EXPECT_EQ(plan.status->disruptions + plan.status->failures, 0);
  job.status = *plan.status;
  EXPECT_EQ(deleted(plan_for(job, world)), (Names{"wad-worker-0", "wad-worker-1"}));
  world.pods.clear();
  job.status = status_after(job, world);
  EXPECT_EQ(plan_for(job, world), Plan{});

  job.spec.suspend = false;
  EXPECT_EQ(created(plan_for(job, world)), (Names{"wad-worker-0", "wad-worker-1"}));
  EXPECT_EQ(status_after(job, world).phase, "Pending");
  EXPECT_EQ(reason(status_after(job, world), "Suspended"), "Resumed");
}

TEST(Contract, B14_ConditionsHaveReasonsAndTheGenerationTheySpeakOf) {
  auto job = workers(1);
  job.meta.generation = 7;
  const auto status = status_after(job, {});
  EXPECT_EQ(status.observed_generation, 7);
  EXPECT_EQ(api::find_condition(status.conditions, "Ready")->observed_generation, 7);
  EXPECT_EQ(reason(status), "WaitingForPods");
}

TEST(Contract, B15_HeterogeneousTrainersAreWhatPaddleReads) {
  const auto job = job_with(R"({"ps": {"replicas": 1}, "worker": {"replicas": 1},
                                "heter": {"replicas": 1}})");
  const auto env = manifest_of(plan_for(job, {}), "wad-heter-0")["spec"]["containers"][0]["env"];
  EXPECT_NE(env.dump().find(R"("TRAINING_ROLE","value":"HETER_TRAINER")"), std::string::npos);
  EXPECT_NE(env.dump().find(R"("PADDLE_TRAINING_ROLE","value":"HETER")"), std::string::npos);
  const auto data = data_of(job);
  EXPECT_EQ(data.at("PADDLE_HETER_TRAINER_IP_PORT_LIST"), "10.0.2.1:36000");
  EXPECT_EQ(data.at("PADDLE_HETER_TRAINER_DEVICE"), "cpu");
  EXPECT_EQ(to_string(kHeter), "heter");
}

TEST(Contract, B16_AddressesOfIPv6AreBracketedAndHoldNothingUp) {
  auto job = workers(2);
  auto pods = all_of(job, coordinated);
  pods[0].ip = "fd00::1";
  pods[1].ip = "fd00::2";
  const auto plan = plan_for(job, world_of(pods));
  const Json data = manifest_of(plan, "wad", OwnedKind::kConfigMap)["data"];
  EXPECT_EQ(data["PADDLE_TRAINER_ENDPOINTS"], "[fd00::1]:36000,[fd00::2]:36000");
  EXPECT_EQ(data["PADDLE_MASTER"], "[fd00::1]:36000");
  EXPECT_EQ(data["PADDLE_TRAINERS"], "fd00::1,fd00::2");
  EXPECT_EQ(only<ReleasePod>(plan)[1].value, "0/fd00::2");
}

TEST(Contract, B17_HostPortsFollowFromTheJobAndAreStoredBeforeAnyPod) {
  const auto job = workers(2, R"({"intranet": "Host"})");
  const auto plan = plan_for(job, {}, {.host_ports = {40000, 40999}});
  ASSERT_TRUE(stores_first(plan));
  EXPECT_GE(plan.status->port, 40000);
  EXPECT_LE(plan.status->port + 19, 40999);
  EXPECT_EQ(plan, plan_for(job, {}, {.host_ports = {40000, 40999}}));
  const auto pods = plan_for(with_port(job, plan.status->port), {});
  EXPECT_EQ(created(pods).size(), 2u);
}

TEST(Contract, B17_AJobThatMovesToTheHostNetworkGetsABlockOfItsOwn) {
  auto job = workers(1);
  job.status.port = 36000;  // as operators before wrote it for every intranet
  job.status = status_after(job, {});
  EXPECT_EQ(job.status.port, 0);
  job.spec.intranet = "Host";
  const auto plan = plan_for(job, {}, {.host_ports = {40000, 40999}});
  ASSERT_TRUE(stores_first(plan));
  EXPECT_GE(plan.status->port, 40000);
  job.status = *plan.status;
  EXPECT_EQ(status_after(job, {}).port, plan.status->port);
  job.spec.intranet = "PodIP";  // and gives it back
  EXPECT_EQ(status_after(job, {}).port, 0);
}

TEST(Contract, B18_PortsOfOtherJobsAreLeftAlone) {
  const auto job = workers(1, R"({"intranet": "Host"})");
  World world;
  world.ports_taken = {40000, 40020};
  EXPECT_EQ(plan_for(job, world, {.host_ports = {40000, 40059}}).status->port, 40040);
  world.ports_taken.insert(40040);
  const auto full = plan_for(job, world, {.host_ports = {40000, 40059}});
  EXPECT_EQ(reason(*full.status), "NoFreePorts");
  EXPECT_TRUE(full.requeue_after);
}

TEST(Contract, B19_ARoleWithoutReplicasHoldsNobodyUp) {
  const auto job = job_with(R"({"ps": {"replicas": 0}, "worker": {"replicas": 1}})");
  EXPECT_EQ(created(plan_for(job, {})), Names{"wad-worker-0"});
  EXPECT_EQ(released(plan_for(job, world_of(all_of(job, coordinated)))), Names{"wad-worker-0"});
  EXPECT_EQ(status_after(job, published(job, all_of(job, running))).phase, "Running");
}

TEST(Contract, B20_UnknownChoicesAreRefusedByTheCrdAndTheMisspeltOnesWarnedAbout) {
  for (const char* spec : {R"({"cleanPodPolicy": "Sometimes", "worker": {"replicas": 1}})",
                           R"({"intranet": "Telegraph", "worker": {"replicas": 1}})"}) {
    EXPECT_FALSE(api::validate(api::Kind::kPaddleJob, api::encode(job_with(spec)), {}).empty());
  }
  const auto status = status_after(workers(1, R"({"cleanPodPolicy": "OnFailed"})"), {});
  EXPECT_EQ(reason(status, "Warning"), "CheckSpec");
}

TEST(Contract, B21_FiveHundredWorkersAreOneWave) {
  const auto job = workers(500, R"({"intranet": "Service"})");
  const auto plan = plan_for(job, {});
  ASSERT_EQ(plan.waves.size(), 1u);
  EXPECT_EQ(plan.waves[0].size(), 1000u);
}

TEST(Contract, B22_TheGangIsWaitedForOnlyBeforeTheFirstPods) {
  const Config volcano{.scheduling = "volcano"};
  auto job = ps_job();
  const auto first = plan_for(job, {}, volcano);
  EXPECT_EQ(created(first, OwnedKind::kPodGroup), Names{"wad"});
  EXPECT_TRUE(created(first).empty());

  World world;
  world.pod_group = *decode_pod_group(manifest_of(first, "wad", OwnedKind::kPodGroup));
  world.pod_group->meta.uid = "g";
  world.pod_group->phase = "Pending";
  EXPECT_TRUE(created(plan_for(job, world, volcano)).empty());
  EXPECT_EQ(reason(status_after(job, world, volcano)), "PodGroupNotAdmitted");
  world.pod_group->phase = "Inqueue";
  EXPECT_EQ(created(plan_for(job, world, volcano)).size(), 4u);

  auto ensure_started = world_of({pending(job, kPs, 0)});
  ensure_started.pod_group = world.pod_group;
  ensure_started.pod_group->phase = "Unknown";
  EXPECT_EQ(created(plan_for(job, ensure_started, volcano)).size(), 3u);
  job.spec.worker->replicas = 3;  // the group follows
  EXPECT_EQ(only<Patch>(plan_for(job, ensure_started, volcano)).size(), 1u);
  job.status.phase = "Failed";
  EXPECT_EQ(deleted(plan_for(job, ensure_started, volcano), OwnedKind::kPodGroup), Names{"wad"});
}

TEST(Contract, B22_ASuspendedGangKeepsNoRoomAndIsAdmittedAgain) {
  const Config volcano{.scheduling = "volcano"};
  auto job = ps_job(R"({"suspend": true})");
  World world;
  world.pod_group = *decode_pod_group(*pod_group_for(job));
  world.pod_group->meta.uid = "g";
  world.pod_group->phase = "Running";
  job.status.epoch = 1;
  job.status.phase = "Suspended";
  const auto plan = plan_for(job, world, volcano);
  EXPECT_EQ(deleted(plan, OwnedKind::kPodGroup), Names{"wad"});
  job.status = *plan.status;
  auto others = world;
  others.pod_group->meta.owners.clear();
  EXPECT_TRUE(plan_for(job, others, volcano).waves.empty());
  world.pod_group.reset();
  EXPECT_EQ(plan_for(job, world, volcano), Plan{});

  job.spec.suspend = false;
  const auto resumed = plan_for(job, world, volcano);
  EXPECT_EQ(created(resumed, OwnedKind::kPodGroup), Names{"wad"});
  EXPECT_TRUE(created(resumed).empty());
  job.status = *resumed.status;
  world.pod_group = others.pod_group;
  world.pod_group->phase = "Pending";
  EXPECT_EQ(reason(status_after(job, world, volcano)), "PodGroupNotAdmitted");
  world.pod_group->phase = "Inqueue";
  EXPECT_EQ(created(plan_for(job, world, volcano)).size(), 4u);
}

TEST(Contract, B22_AClusterWithoutVolcanoIsACondition) {
  World world;
  world.pod_groups_known = false;
  const auto plan = plan_for(ps_job(), world, {.scheduling = "volcano"});
  EXPECT_EQ(reason(*plan.status), "VolcanoMissing");
  EXPECT_TRUE(plan.waves.empty());
  EXPECT_TRUE(plan.requeue_after);
}

TEST(Contract, B23_WorkersAloneAreDrawnToTheirSamplesWithinTheUsersOwnTerms) {
  auto job = ps_job(R"({"sampleSetRef": {"name": "set", "mountPath": "/data"},
      "worker": {"template": {"spec": {"containers": [{"name": "c"}],
      "volumes": [{"name": "set", "emptyDir": {}}],
      "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
          {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]},
            {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["b"]}]}]}}}}}}})");
  World world;
  EXPECT_EQ(reason(status_after(job, world)), "SampleSetMissing");
  world.data.set = api::SampleSet{};
  world.data.set->meta.key = {"t", "set"};
  world.data.set->spec.partitions = 1;
  EXPECT_EQ(reason(status_after(job, world)), "SampleSetNotReady");
  EXPECT_TRUE(created(plan_for(job, world)).empty());
  world.data.set->status.phase = "Ready";
  world.data.claim = placement::ClaimSummary{.phase = "Bound"};
  world.data.nodes = {
      {.meta = {.key = {"", "n"}, .labels = {{"paddlepaddle.org/juicefs-set", "set-runtime-0"}}}}};
  const auto plan = plan_for(job, world);
  const Json spec = manifest_of(plan, "wad-worker-0")["spec"];
  const Json terms = spec["affinity"]["nodeAffinity"]
                         ["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
  ASSERT_EQ(terms.size(), 2u);
  for (const Json& term : terms) {
    EXPECT_EQ(term["matchExpressions"].size(), 2u);
    EXPECT_NE(term.dump().find("set-runtime-0"), std::string::npos);
  }
  EXPECT_NE(spec["containers"][0]["volumeMounts"][0]["name"], "set") << "that volume is the user's";
  EXPECT_FALSE(manifest_of(plan, "wad-ps-0")["spec"].contains("affinity"));
  job.spec.sample_set->ns = "elsewhere";
  EXPECT_EQ(reason(status_after(job, world)), "SampleSetElsewhere");
}

TEST(Contract, B24_EverythingIsLabelledAndServicesGoWithTheirPods) {
  auto job = workers(1, R"({"intranet": "Service"})");
  EXPECT_EQ(
      service_for(job, replica_groups(job.spec).front(), 0)["metadata"]["labels"][kJobNameLabel],
      "wad");
  EXPECT_EQ(peer_config_map(job, {})["metadata"]["labels"][kJobNameLabel], "wad");
  auto world = world_of({pending(job, kWorker, 0)});
  world.services = {{.meta = {.key = {"t", "wad-worker-0"}, .uid = "a"}},
                    {.meta = {.key = {"t", "wad-worker-1"}, .uid = "b"}}};
  EXPECT_EQ(deleted(plan_for(job, world), OwnedKind::kService), Names{"wad-worker-1"});
}

TEST(Contract, B25_TheCoordinatorNeedsNoPublicImageAndHasLimitsInMebibytes) {
  const Json pod = manifest_of(plan_for(workers(1), {}), "wad-worker-0");
  const Json& coord = pod["spec"]["initContainers"][0];
  EXPECT_EQ(coord["image"], pod["spec"]["containers"][0]["image"]);
  EXPECT_EQ(coord["resources"]["limits"]["memory"], "64Mi");
  EXPECT_EQ(coord["resources"]["limits"], coord["resources"]["requests"]);
}

TEST(Contract, B28_TheLauncherIsToldTheNumberOfNodesAndHostPodsKeepApart) {
  const auto job = with_port(workers(2, R"({"intranet": "Host"})"), 35000);
  EXPECT_EQ(data_of(job).at("PADDLE_NNODES"), "2");
  EXPECT_EQ(data_of(job).at("PADDLE_MASTER"), "10.0.1.1:35000");
  EXPECT_EQ(data_of(job).at("PADDLE_JOB_ID"), "t-wad");
  const Json pod = manifest_of(plan_for(job, {}), "wad-worker-1");
  // The same host port twice: the scheduler itself keeps them off one node.
  EXPECT_EQ(pod["spec"]["containers"][0]["ports"][0]["hostPort"], 35000);
}

TEST(Contract, B29_ScalingARunningJobBeginsItAnewWithoutCounting) {
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

TEST(Contract, B29_ScalingBeforeTheStartBeginsNothingAnew) {
  auto job =
      job_with(R"({"intranet": "Service", "ps": {"replicas": 1}, "worker": {"replicas": 4}})");
  job.status.phase = "Pending";
  std::vector<api::Pod> pods;
  for (int i = 0; i < 3; ++i) pods.push_back(pending(job, kPs, i));
  for (int i = 0; i < 2; ++i) pods.push_back(pending(job, kWorker, i));
  const auto plan = plan_for(job, world_of(pods));
  EXPECT_EQ(deleted(plan), (Names{"wad-ps-1", "wad-ps-2"}));
  EXPECT_EQ(created(plan), (Names{"wad-worker-2", "wad-worker-3"}));
  EXPECT_FALSE(stores_first(plan));
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
