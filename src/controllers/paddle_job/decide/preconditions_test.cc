// SPDX-License-Identifier: Apache-2.0
//
// Jobs with a sampleSetRef, the data gate, and gangs. J1 to J5 and B22 are numbers under which
// defects of the Go operator are listed; affinity itself is tested in controllers/placement.

#include "controllers/paddle_job/decide/preconditions.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/paddle_job/testing/plan_fixture.h"
#include "controllers/placement/data_gate.h"

namespace paddle::controllers::paddle_job {
namespace {

using api::Json;
using std::chrono::seconds;

constexpr const char* kRef = R"({"sampleSetRef": {"name": "imagenet", "mountPath": "/data"}})";
constexpr const char* kGated = R"({"sampleSetRef": {"name": "imagenet", "mountPath": "/data",
    "gate": {"warmPercent": 80, "timeoutSeconds": 600}}})";

placement::DataSummary samples(int partitions, int warm_percent = 100) {
  placement::DataSummary data{.set = api::SampleSet{},
                              .claim = placement::ClaimSummary{.phase = "Bound"}};
  api::SampleSet& set = *data.set;
  set.meta.key = {"t", "imagenet"};
  set.spec.partitions = partitions;
  set.status.phase = "Ready";
  set.status.engine = "juicefs";
  set.status.index = api::IndexStatus{.generation = 4, .digest = "abc"};
  for (int i = 0; i < partitions; ++i) {
    const auto n = std::to_string(i);
    data.node_labels["paddlepaddle.org/juicefs-imagenet"].insert("imagenet-runtime-" + n);
    set.status.partitions.push_back({.index = i,
                                     .node = "node" + n,
                                     .total_bytes = 100,
                                     .cached_bytes = warm_percent,
                                     .ready = true});
  }
  return data;
}
World with(const placement::DataSummary& data, std::vector<api::Pod> pods = {}) {
  World world = world_of(std::move(pods));
  world.data = data;
  return world;
}
api::Pod gated(const api::PaddleJob& job, RoleKind kind, int index) {
  api::Pod pod = pending(job, kind, index);
  pod.gates = {placement::kDataGate};
  return pod;
}

TEST(JobSamples, WorkersMountTheSetAndGoToTheNodesOfTheirPartitions) {
  const auto job = ps_job(kRef);
  const auto plan = plan_for(job, with(samples(1)));
  const Json first = manifest_of(plan, "demo-worker-0")["spec"];
  EXPECT_NE(first["affinity"].dump().find("imagenet-runtime-0"), std::string::npos) << first;
  EXPECT_EQ(first["containers"][0]["volumeMounts"].back()["mountPath"], "/data");
  // Beyond the partitions: mounted, and free to go anywhere.
  const Json second = manifest_of(plan, "demo-worker-1")["spec"];
  EXPECT_FALSE(second.contains("affinity"));
  EXPECT_EQ(second["containers"][0]["volumeMounts"].back()["mountPath"], "/data");
}

TEST(JobSamples, J1_TheUsersOwnAffinityIsNarrowedNotReplaced) {
  const auto job = job_with(R"({"sampleSetRef": {"name": "imagenet", "mountPath": "/data"},
    "worker": {"replicas": 1, "template": {"spec": {"containers": [{"name": "c"}], "affinity":
      {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}]}}}}}}})");
  const Json spec = manifest_of(plan_for(job, with(samples(1))), "demo-worker-0")["spec"];
  const Json& terms = spec["affinity"]["nodeAffinity"]
                          ["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
  ASSERT_EQ(terms.size(), 1u);
  EXPECT_EQ(terms[0]["matchExpressions"].size(), 2u);
}

TEST(JobSamples, J2_ServersGetNeitherTheMountNorTheAffinity) {
  const Json spec = manifest_of(plan_for(ps_job(kRef), with(samples(2))), "demo-ps-0")["spec"];
  EXPECT_FALSE(spec.contains("affinity"));
  EXPECT_EQ(spec.dump().find("imagenet"), std::string::npos) << spec;
}

TEST(JobSamples, J3_TheAffinityCanBePreferred) {
  const auto job = workers(1, R"({"sampleSetRef": {"name": "imagenet", "mountPath": "/data",
                                                   "affinity": "preferred"}})");
  const Json affinity = manifest_of(plan_for(job, with(samples(1))),
                                    "demo-worker-0")["spec"]["affinity"]["nodeAffinity"];
  EXPECT_TRUE(affinity.contains("preferredDuringSchedulingIgnoredDuringExecution"));
  EXPECT_FALSE(affinity.contains("requiredDuringSchedulingIgnoredDuringExecution"));
}

TEST(JobSamples, J3_AWorkerWhosePartitionHasNoNodeIsReplacedToRunOnAnyNode) {
  const auto job = workers(2, kRef);
  placement::DataSummary data = samples(2);
  const Json made = manifest_of(plan_for(job, with(data)), "demo-worker-1");
  ASSERT_EQ(made["metadata"]["annotations"][placement::kPlacedAnnotation], "imagenet-runtime-1");
  api::Pod stuck = pending(job, kWorker, 1);
  stuck.meta.annotations[placement::kPlacedAnnotation] = "imagenet-runtime-1";
  stuck.unschedulable = "0/3 nodes are available";
  const auto gone = [&] {
    return deleted(plan_for(job, with(data, {pending(job, kWorker, 0), stuck})));
  };
  data.node_labels["paddlepaddle.org/juicefs-imagenet"].erase("imagenet-runtime-1");
  // The partition's node is lost; it may come back elsewhere.
  EXPECT_TRUE(gone().empty());
  data.set->status.conditions = {{.type = "Degraded", .status = "True", .reason = "NoNode"}};
  EXPECT_EQ(gone(), (std::vector<std::string>{"demo-worker-1"}));
  const Json again =
      manifest_of(plan_for(job, with(data, {pending(job, kWorker, 0)})), "demo-worker-1");
  EXPECT_FALSE(again["spec"].contains("affinity"));
  EXPECT_FALSE(again["metadata"]["annotations"].contains(placement::kPlacedAnnotation));
  stuck.meta.annotations.erase(
      placement::kPlacedAnnotation);  // made again: not taken away once more
  EXPECT_TRUE(gone().empty());
}

TEST(JobSamples, J3_AWorkerWhosePartitionWasScaledAwayIsReplacedToRunOnAnyNode) {
  const auto job = workers(2, kRef);
  placement::DataSummary data = samples(2);
  api::Pod stuck = pending(job, kWorker, 1);
  stuck.meta.annotations[placement::kPlacedAnnotation] = "imagenet-runtime-1";
  stuck.unschedulable = "0/3 nodes are available";
  data.set->spec.partitions = 1;
  data.node_labels["paddlepaddle.org/juicefs-imagenet"].erase("imagenet-runtime-1");
  const auto plan = plan_for(job, with(data, {pending(job, kWorker, 0), stuck}));
  EXPECT_EQ(deleted(plan), (std::vector<std::string>{"demo-worker-1"}));
  const Json again =
      manifest_of(plan_for(job, with(data, {pending(job, kWorker, 0)})), "demo-worker-1");
  EXPECT_FALSE(again["spec"].contains("affinity"));
}

TEST(JobSamples, J3_TheConditionDataLocalNamesWorkersAwayFromTheirSamples) {
  auto job = workers(3, kRef);
  const placement::DataSummary data = samples(2);
  const auto about = [&](bool first, bool second, auto make) {
    std::vector<api::Pod> pods{make(job, kWorker, 0), make(job, kWorker, 1), make(job, kWorker, 2)};
    if (first) pods[0].meta.annotations[placement::kPlacedAnnotation] = "imagenet-runtime-0";
    if (second) pods[1].meta.annotations[placement::kPlacedAnnotation] = "imagenet-runtime-1";
    job.status = status_after(job, with(data, pods));
    const auto* found = api::find_condition(job.status.conditions, "DataLocal");
    return found ? found->status + " " + found->reason + " " + found->message : std::string();
  };
  EXPECT_EQ(about(true, true, pending), "");  // the third has no partition to be near to
  EXPECT_TRUE(about(true, false, pending).starts_with("False NoNode worker 1 may run on any node"));
  EXPECT_NE(about(false, false, running).find("workers 0, 1 may"), std::string::npos);
  EXPECT_EQ(about(true, true, running), "");  // made again, where they belong
  EXPECT_NE(about(true, false, running), "");
  const auto later = status_after(job, with({}, all_of(job, running)));  // the set is gone
  EXPECT_NE(api::find_condition(later.conditions, "DataLocal"), nullptr);
  job = workers(3, R"({"sampleSetRef": {"name": "imagenet", "mountPath": "/data",
      "affinity": "preferred"}})");
  EXPECT_EQ(about(false, false, running), "");
}

TEST(JobSamples, ASuspendedJobHasNoConditionsAboutTheSamplesOfItsPreviousPods) {
  auto job = workers(2, kGated);
  job.spec.suspend = true;
  job.status.phase = "Suspended";
  job.status.conditions = {{.type = "DataLocal", .status = "False", .reason = "NoNode"},
                           {.type = "DataWarm", .status = "False", .reason = "NoRoom"}};
  const auto status = status_after(job, with(samples(2)));
  EXPECT_EQ(api::find_condition(status.conditions, "DataLocal"), nullptr);
  EXPECT_EQ(api::find_condition(status.conditions, "DataWarm"), nullptr);
}

TEST(JobSamples, AJobThatNoLongerReadsASetForgetsItsVersionBeforeItStartsAgain) {
  auto job = workers(2);
  job.status.sample_set = api::DataVersion{.name = "imagenet", .generation = 4};
  EXPECT_FALSE(status_after(job, World{}).sample_set);
  EXPECT_TRUE(status_after(job, world_of(all_of(job, running))).sample_set)
      << "the pods that run were started with it";
}

TEST(JobSamples, J4_OtherContainersAndReadOnlyMountsByField) {
  const auto job = job_with(R"({"sampleSetRef": {"name": "imagenet", "mountPath": "/data",
      "readOnly": true, "containers": ["b"]}, "worker": {"replicas": 1, "template": {"spec":
      {"containers": [{"name": "a"}, {"name": "b"}]}}}})");
  const Json spec = manifest_of(plan_for(job, with(samples(1))), "demo-worker-0")["spec"];
  EXPECT_FALSE(spec["containers"][0].contains("volumeMounts"));
  EXPECT_TRUE(spec["containers"][1]["volumeMounts"][0]["readOnly"]);
  EXPECT_EQ(spec["containers"][1]["volumeMounts"][0]["mountPropagation"], "HostToContainer");
}

TEST(JobSamples, J4_ByDefaultTheTrainingContainerMountsTheSamples) {
  const auto job = workers(1, R"({"sampleSetRef": {"name": "imagenet", "mountPath": "/data"},
      "worker": {"template": {"spec": {"containers": [{"name": "logs"}, {"name": "paddle"}]}}}})");
  const Json containers =
      manifest_of(plan_for(job, with(samples(1))), "demo-worker-0")["spec"]["containers"];
  EXPECT_FALSE(containers[0].contains("volumeMounts"));
  EXPECT_EQ(containers[1]["volumeMounts"][0]["mountPath"], "/data");
}

TEST(JobSamples, J4_AnUnknownContainerGetsAConditionBeforePodsAreCreated) {
  const auto job_of = [](const char* containers) {
    return workers(1, (std::string(R"({"sampleSetRef": {"name": "imagenet", "mountPath": "/data",
        "containers": )") +
                       containers + "}}")
                          .c_str());
  };
  const auto wrong = job_of(R"(["padle"])");
  const auto plan = plan_for(wrong, with(samples(1)));
  EXPECT_TRUE(plan.waves.empty());
  ASSERT_TRUE(plan.status);
  EXPECT_EQ(api::find_condition(plan.status->conditions, "Ready")->message,
            "sampleSetRef.containers is padle, but worker has no such container; it has c");
  const auto is_running = plan_for(wrong, with(samples(1), {exited(wrong, kWorker, 0, 0)}));
  EXPECT_EQ(is_running.status->phase, "Completed") << "one that was started before has its end";
  const auto half = plan_for(job_of(R"(["c", "padle"])"), with(samples(1)));
  EXPECT_EQ(created(half).size(), 1u);
  EXPECT_EQ(reason(*half.status, "Warning"), "CheckSpec");
}

TEST(JobSamples, J5_AJobWaitsForItsSetAndRunsOnWithoutIt) {
  auto job = workers(1, kRef);
  auto data = samples(1);
  data.set->status.phase = "Syncing";
  const auto waits = plan_for(job, with(data));
  EXPECT_TRUE(created(waits).empty());
  EXPECT_EQ(reason(*waits.status), "SampleSetNotReady");

  auto world = published(job, all_of(job, running));
  world.data = {};  // the set is gone
  EXPECT_EQ(status_after(job, world).phase, "Running");
  EXPECT_EQ(status_after(job, with({}, {exited(job, kWorker, 0, 0)})).phase, "Completed");
}

TEST(JobSamples, AJobWithoutItsSetHasAConditionAndNoPods) {
  auto job = workers(2, R"({"sampleSetRef": {"name": "imagenet", "mountPath": "/data"}})");
  const auto plan = plan_for(job, World{});
  EXPECT_TRUE(created(plan).empty());
  EXPECT_FALSE(reason(*plan.status).empty());
  EXPECT_NE(reason(*plan.status), "WaitingForPods");
}

TEST(JobSamples, TheStateOfTheDataIsRecordedUntilTheProgramStarts) {
  auto job = workers(1, kRef);
  const auto status = status_after(job, with(samples(1)));
  ASSERT_TRUE(status.sample_set);
  EXPECT_EQ(status.sample_set->name, "imagenet");
  EXPECT_EQ(status.sample_set->generation, 4);
  EXPECT_EQ(status.sample_set->digest, "abc");
  job.status = status;
  auto world = published(job, all_of(job, running));
  world.data = samples(1);
  world.data.set->status.index->generation = 5;
  EXPECT_EQ(status_after(job, world).sample_set->generation, 4);
}

TEST(JobSamples, B23_OnlyWorkersGetAnAffinityWithinTheUsersOwnTerms) {
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
  world.data.node_labels = {{"paddlepaddle.org/juicefs-set", {"set-runtime-0"}}};
  const auto plan = plan_for(job, world);
  const Json spec = manifest_of(plan, "demo-worker-0")["spec"];
  const Json terms = spec["affinity"]["nodeAffinity"]
                         ["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
  ASSERT_EQ(terms.size(), 2u);
  for (const Json& term : terms) {
    EXPECT_EQ(term["matchExpressions"].size(), 2u);
    EXPECT_NE(term.dump().find("set-runtime-0"), std::string::npos);
  }
  EXPECT_NE(spec["containers"][0]["volumeMounts"][0]["name"], "set") << "that volume is the user's";
  EXPECT_FALSE(manifest_of(plan, "demo-ps-0")["spec"].contains("affinity"));
  job.spec.sample_set->ns = "elsewhere";
  EXPECT_EQ(reason(status_after(job, world)), "SampleSetElsewhere");
}

TEST(DataGatePlan, PodsAreCreatedWithAGateAndWithoutAffinityBeforeTheDataIsWarm) {
  auto data = samples(2, 10);
  data.set->status.phase = "Mount";
  data.claim.reset();
  const auto plan = plan_for(ps_job(kGated), with(data));
  EXPECT_EQ(created(plan).size(), 4u);
  for (const char* name : {"demo-ps-0", "demo-worker-1"}) {
    const Json spec = manifest_of(plan, name)["spec"];
    EXPECT_EQ(spec["schedulingGates"][0]["name"], placement::kDataGate);
    EXPECT_FALSE(spec.contains("affinity"));
  }
}

TEST(DataGatePlan, TheGatesOfAJobAreRemovedTogetherAndTheAffinityIsSetThen) {
  const auto job = ps_job(kGated);
  const auto pods = all_of(job, gated);
  const auto cold = plan_for(job, with(samples(2, 79), pods));
  EXPECT_TRUE(cold.waves.empty());
  EXPECT_TRUE(cold.requeue_after);
  EXPECT_NE(reason(*cold.status), "WaitingForPods");

  const auto warm = only<Patch>(plan_for(job, with(samples(2, 80), pods)));
  ASSERT_EQ(warm.size(), 4u);
  for (const Patch& patch : warm) EXPECT_TRUE(patch.json_patch);
  EXPECT_NE(warm[3].body->dump().find("imagenet-runtime-1"), std::string::npos);
  EXPECT_EQ(warm[0].body->dump().find("imagenet-runtime"), std::string::npos);  // a server
}

TEST(DataGatePlan, AGangReservesResourcesWhenItsDataIsWarm) {
  const Config volcano{.scheduling = "volcano"};
  auto job = ps_job(kGated);
  job.spec.scheduling_policy =
      api::SchedulingPolicy{.min_resources = api::Opaque(Json{{"cpu", 4}})};
  const auto group_in = [](const Plan& plan) {
    for (const Create& a : only<Create>(plan)) {
      if (a.kind == OwnedKind::kPodGroup) return (*a.manifest)["spec"];
    }
    for (const Patch& a : only<Patch>(plan)) {
      if (a.kind == OwnedKind::kPodGroup) return (*a.body)["spec"];
    }
    return Json();
  };
  EXPECT_FALSE(group_in(plan_for(job, with(samples(2, 5)), volcano)).contains("minResources"));
  EXPECT_TRUE(group_in(plan_for(job, with(samples(2, 90)), volcano)).contains("minResources"));

  World world = with(samples(2, 5), all_of(job, gated));
  world.pod_group = *decode_pod_group(*pod_group_for(job, Reservation::kNone));
  world.pod_group->phase = "Inqueue";
  EXPECT_EQ(group_in(plan_for(job, world, volcano)), Json()) << "as it should be while they wait";
  world.data = samples(2, 90);
  EXPECT_TRUE(group_in(plan_for(job, world, volcano)).contains("minResources"));
  auto pods = all_of(job, gated);  // one is beyond the gate: the gang keeps what it has
  pods.back() = running(job, kWorker, 1);
  const auto group = world.pod_group;
  world = with(samples(2, 5), pods);
  world.pod_group = group;
  EXPECT_TRUE(group_in(plan_for(job, world, volcano)).contains("minResources"));
}

TEST(DataGatePlan, TheGatesAreRemovedWhenTheTimeoutHasPassed) {
  auto job = ps_job(kGated);
  const auto pods = all_of(job, gated);
  const auto late = *pods[0].meta.created + seconds{600};
  EXPECT_TRUE(only<Patch>(plan_for(job, with(samples(2, 5), pods), {}, late - seconds{1})).empty());
  const auto first = plan_for(job, with(samples(2, 5), pods), {}, late);
  ASSERT_TRUE(stores_first(first))
      << "the condition is stored before the gates are removed, whichever operator is killed";
  EXPECT_TRUE(first.waves.empty());
  job.status = *first.status;
  EXPECT_EQ(only<Patch>(plan_for(job, with(samples(2, 5), pods), {}, late)).size(), 4u);
}

TEST(DataGatePlan, TheGatesStayBeforeTheFirstSyncEvenAfterTheTimeout) {
  auto job = ps_job(kGated);
  const auto pods = all_of(job, gated);
  const auto late = *pods[0].meta.created + seconds{6000};
  placement::DataSummary data = samples(2, 0);
  data.set->status.phase = "SyncFailed";
  const auto plan = plan_for(job, with(data, pods), {}, late);
  EXPECT_TRUE(plan.waves.empty());
  EXPECT_TRUE(plan.requeue_after);
  ASSERT_TRUE(plan.status);
  EXPECT_EQ(reason(*plan.status), "SampleSetNotSynced");
  EXPECT_EQ(api::find_condition(plan.status->conditions, "DataWarm"), nullptr);
  data.set->status.phase = "PartialReady";
  job.status = *plan_for(job, with(data, pods), {}, late).status;
  EXPECT_EQ(only<Patch>(plan_for(job, with(data, pods), {}, late)).size(), 4u);
}

TEST(DataGatePlan, AJobOnPartitionsThatAreAsWarmAsTheyCanBeStartsWithACondition) {
  auto job = ps_job(kGated);
  const auto pods = all_of(job, gated);
  placement::DataSummary data = samples(2, 60);
  EXPECT_TRUE(only<Patch>(plan_for(job, with(data, pods))).empty());
  for (auto& one : data.set->status.partitions) one.uncached_reason = api::uncached::kNoRoom;
  const auto first = plan_for(job, with(data, pods));
  ASSERT_TRUE(stores_first(first))
      << "the condition is stored before the gates are removed, whichever operator is killed";
  const auto* lacks = api::find_condition(first.status->conditions, "DataWarm");
  ASSERT_TRUE(lacks);
  EXPECT_EQ(lacks->status + " " + lacks->reason, "False NoRoom");
  EXPECT_TRUE(lacks->message.starts_with("partition 0 is full at 60 %: ")) << lacks->message;
  job.status = *first.status;
  EXPECT_EQ(only<Patch>(plan_for(job, with(data, pods))).size(), 4u);
}

TEST(DataGatePlan, TheConditionOfAColdStartStaysUntilOtherPodsWait) {
  auto job = ps_job(kGated);
  const auto pods = all_of(job, gated);
  const auto late = *pods[0].meta.created + seconds{600};
  const auto cold_of = [](const api::PaddleJobStatus& status) {
    const auto* found = api::find_condition(status.conditions, "DataWarm");
    return found ? found->reason + ": " + found->message : "";
  };
  job.status = *plan_for(job, with(samples(2, 5), pods), {}, late).status;
  EXPECT_EQ(cold_of(job.status),
            "DataGateTimedOut: started after 600 s although it was waiting for the SampleSet "
            "imagenet: 0 of 2 partitions are 80 % warm, partition 0 is at 5 %");
  const auto opened = plan_for(job, with(samples(2, 90), all_of(job, running)), {}, late);
  ASSERT_TRUE(opened.status);
  EXPECT_EQ(cold_of(*opened.status), cold_of(job.status))
      << "its first samples came over the network";
  const auto again = plan_for(job, with(samples(2, 5), pods), {}, late - seconds{9});
  ASSERT_TRUE(again.status);
  EXPECT_EQ(cold_of(*again.status), "");
}

TEST(GangPlan, B22_TheGangBlocksOnlyTheFirstPods) {
  const Config volcano{.scheduling = "volcano"};
  auto job = ps_job();
  const auto first = plan_for(job, {}, volcano);
  EXPECT_EQ(created(first, OwnedKind::kPodGroup), Names{"demo"});
  EXPECT_TRUE(created(first).empty());

  World world;
  world.pod_group = *decode_pod_group(manifest_of(first, "demo", OwnedKind::kPodGroup));
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
  EXPECT_EQ(deleted(plan_for(job, ensure_started, volcano), OwnedKind::kPodGroup), Names{"demo"});
}

TEST(GangPlan, B22_ASuspendedGangReservesNothingAndIsAdmittedAgain) {
  const Config volcano{.scheduling = "volcano"};
  auto job = ps_job(R"({"suspend": true})");
  World world;
  world.pod_group = *decode_pod_group(*pod_group_for(job));
  world.pod_group->meta.uid = "g";
  world.pod_group->phase = "Running";
  job.status.epoch = 1;
  job.status.phase = "Suspended";
  const auto plan = plan_for(job, world, volcano);
  EXPECT_EQ(deleted(plan, OwnedKind::kPodGroup), Names{"demo"});
  job.status = *plan.status;
  auto others = world;
  others.pod_group->meta.owners.clear();
  EXPECT_TRUE(plan_for(job, others, volcano).waves.empty());
  world.pod_group.reset();
  EXPECT_EQ(plan_for(job, world, volcano), Plan{});

  job.spec.suspend = false;
  const auto resumed = plan_for(job, world, volcano);
  EXPECT_EQ(created(resumed, OwnedKind::kPodGroup), Names{"demo"});
  EXPECT_TRUE(created(resumed).empty());
  job.status = *resumed.status;
  world.pod_group = others.pod_group;
  world.pod_group->phase = "Pending";
  EXPECT_EQ(reason(status_after(job, world, volcano)), "PodGroupNotAdmitted");
  world.pod_group->phase = "Inqueue";
  EXPECT_EQ(created(plan_for(job, world, volcano)).size(), 4u);
}

TEST(GangPlan, B22_AClusterWithoutVolcanoGetsACondition) {
  World world;
  world.pod_groups_known = false;
  const auto plan = plan_for(ps_job(), world, {.scheduling = "volcano"});
  EXPECT_EQ(reason(*plan.status), "VolcanoMissing");
  EXPECT_TRUE(plan.waves.empty());
  EXPECT_TRUE(plan.requeue_after);
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
