// SPDX-License-Identifier: Apache-2.0
// The program paddle-operator on a real API server, with stock kubectl as the user and this test as
// the kubelet. The server validates every object that the operator creates.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test/integration/control_plane_fixture.h"
#include "test/support/eventually.h"
#include "test/support/keeper.h"

namespace paddle::test {
namespace {

using kube::Json;
using kube::ObjectKey;
namespace kinds = kube::resources;

constexpr const char* kJob = R"(
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: resnet}
spec:
  cleanPodPolicy: Never
  worker:
    replicas: 2
    template:
      spec:
        containers:
        - name: main
          image: paddle:3
          command: [python, train.py]
)";

constexpr const char* kSet = R"(
apiVersion: v1
kind: Secret
metadata: {name: keys}
stringData: {access-key: a, secret-key: b}
---
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {name: imagenet}
spec:
  partitions: 2
  source:
    uri: s3://bucket/images
    secretRef: {name: keys}
  cache:
    levels:
    - {mediumType: SSD, path: /ssd/cache, cacheSize: 1024}
)";

// This test is the driver that mounts its volumes.
constexpr const char* kDriver = R"(
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: samplefs.csi.paddlepaddle.org}
spec: {attachRequired: false, volumeLifecycleModes: [Persistent, Ephemeral]}
)";

constexpr const char* kRule = R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-changes}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [UPDATE], resources: [statefulsets]}
  validations:
  - {expression: "false", message: runtimes stay as they are}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: no-changes}
spec: {policyName: no-changes, validationActions: [Deny]}
)";

class OperatorTest : public ControlPlaneTest {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(ControlPlaneTest::SetUp());
    ASSERT_NO_FATAL_FAILURE(install_crds(PADDLE_SOURCE_DIR));
    const auto pid = plane->keeper().spawn(
        {.argv = {PADDLE_OPERATOR, "--kubeconfig=" + plane->kubeconfig(),
                  "--metrics-bind-address=0", "--health-probe-bind-address=0"},
         .env = {"HOME=/nonexistent"},
         .log = plane->directory() + "/operator.log"});
    ASSERT_TRUE(pid) << pid.error().message;
  }
  void apply(const char* text) {
    const auto done = plane->kubectl({"apply", "-f", "-"}, text);
    ASSERT_EQ(done.exit_code, 0) << done.err;
  }
  Json get(const kube::Resource& resource, const std::string& name) {
    const ObjectKey key{resource.namespaced ? "default" : "", name};
    const auto found = client->get(resource, key);
    return found ? *found : Json(nullptr);
  }
  void say(const kube::Resource& resource, const std::string& name, const Json& status) {
    const ObjectKey key{resource.namespaced ? "default" : "", name};
    const auto done = client->patch(resource, key, {.body = {{"status", status}}}, "status");
    ASSERT_TRUE(done) << done.error().message;
  }
  std::string phase(const kube::Resource& resource, const std::string& name) {
    const Json object = get(resource, name);
    return object.is_null() ? "(gone)" : object.value("/status/phase"_json_pointer, std::string());
  }
  Json condition(const std::string& type) {
    const Json set = get(kinds::kSampleSets, "imagenet");
    if (set.is_null()) return Json::object();
    for (const Json& each : set.value("/status/conditions"_json_pointer, Json::array())) {
      if (each["type"] == type) return each;
    }
    return Json::object();
  }
  // A SampleSet with its StatefulSet.
  void begin_set() {
    apply(kDriver);
    apply(kSet);
    ASSERT_TRUE(
        eventually([&] { return !get(kinds::kStatefulSets, "imagenet-runtime").is_null(); }));
  }
  void change_set(const std::string& spec) {
    const auto done = plane->kubectl(
        {"patch", "sampleset", "imagenet", "--type=merge", "-p", R"({"spec":)" + spec + "}"});
    ASSERT_EQ(done.exit_code, 0) << done.err;
  }
  // The pod spec in the template of the StatefulSet.
  Json pod_spec() {
    return get(kinds::kStatefulSets, "imagenet-runtime")
        .value("/spec/template/spec"_json_pointer, Json::object());
  }
  bool is_refused() { return condition("Degraded").value("reason", "") == "ActionRefused"; }
  bool is_up_to_date() {
    const Json set = get(kinds::kSampleSets, "imagenet");
    return set["status"].value("observedGeneration", 0) == set["metadata"]["generation"];
  }
  void give_address(const std::string& pod, const std::string& ip) {
    ASSERT_TRUE(eventually([&] { return !get(kinds::kPods, pod).is_null(); }));
    say(kinds::kPods, pod,
        {{"phase", "Pending"}, {"podIP", ip}, {"podIPs", Json::array({Json{{"ip", ip}}})}});
  }
  void start_when_released(const std::string& pod) {
    EXPECT_TRUE(eventually([&] {
      return get(kinds::kPods, pod)["metadata"]["annotations"].contains(
          "batch.paddlepaddle.org/release");
    }));
    say(kinds::kPods, pod,
        {{"phase", "Running"},
         {"containerStatuses", Json::array({Json{{"name", "main"},
                                                 {"image", "paddle:3"},
                                                 {"imageID", ""},
                                                 {"restartCount", 0},
                                                 {"ready", true},
                                                 {"state", {{"running", Json::object()}}}}})}});
  }
  void deletes_the_first_worker_once_it_has_succeeded(const std::string& job);
};

TEST_F(OperatorTest, RunsACollectiveJobWithTheContractsNamesAndColumns) {
  apply(kJob);
  const std::vector<std::string> pods{"resnet-worker-0", "resnet-worker-1"};
  give_address(pods[0], "10.0.0.1");
  give_address(pods[1], "10.0.0.2");
  ASSERT_TRUE(eventually([&] { return !get(kinds::kConfigMaps, "resnet").is_null(); }));
  EXPECT_EQ(get(kinds::kConfigMaps, "resnet")["data"]["PADDLE_TRAINER_ENDPOINTS"],
            "10.0.0.1:36000,10.0.0.2:36000");
  for (const auto& pod : pods) start_when_released(pod);
  ASSERT_TRUE(eventually([&] { return phase(kinds::kPaddleJobs, "resnet") == "Running"; }));
  const auto shown = plane->kubectl({"get", "pdj", "resnet"});
  EXPECT_NE(shown.out.find("STATUS"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("Running"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("Collective"), std::string::npos) << shown.out;

  for (const auto& pod : pods) say(kinds::kPods, pod, {{"phase", "Succeeded"}});
  EXPECT_TRUE(eventually([&] { return phase(kinds::kPaddleJobs, "resnet") == "Completed"; }));
  const auto told = plane->kubectl({"describe", "pdj", "resnet"});
  EXPECT_NE(told.out.find("created pods resnet-worker-0, resnet-worker-1"), std::string::npos)
      << told.out;
}

void OperatorTest::deletes_the_first_worker_once_it_has_succeeded(const std::string& job) {
  const std::string first = job + "-worker-0";
  const std::string second = job + "-worker-1";
  give_address(first, "10.0.0.1");
  give_address(second, "10.0.0.2");
  start_when_released(first);
  start_when_released(second);
  ASSERT_TRUE(eventually([&] { return phase(kinds::kPaddleJobs, job) == "Running"; }));
  const Json uid = get(kinds::kPods, second)["metadata"]["uid"];
  const auto workers = [&] { return get(kinds::kPaddleJobs, job)["status"]["worker"]; };

  say(kinds::kPods, first, {{"phase", "Succeeded"}});
  ASSERT_TRUE(eventually([&] { return workers().value("completedIndexes", "") == "0"; }));
  const auto removed = plane->kubectl({"delete", "pod", first});
  ASSERT_EQ(removed.exit_code, 0) << removed.err;
  // The operator that has seen it reports it.
  ASSERT_TRUE(eventually([&] { return workers()["refs"].size() == 1; })) << workers();
  EXPECT_EQ(workers()["succeeded"], 1);
  EXPECT_EQ(phase(kinds::kPaddleJobs, job), "Running");
  EXPECT_TRUE(get(kinds::kPods, first).is_null());

  EXPECT_EQ(get(kinds::kPods, second)["metadata"]["uid"], uid);
  say(kinds::kPods, second, {{"phase", "Succeeded"}});
  EXPECT_TRUE(eventually([&] { return phase(kinds::kPaddleJobs, job) == "Completed"; }));
  const Json status = get(kinds::kPaddleJobs, job)["status"];
  EXPECT_FALSE(status.contains("epoch")) << status;
  EXPECT_FALSE(status.contains("disruptions")) << status;
  EXPECT_EQ(status["worker"]["completedIndexes"], "0-1");
  EXPECT_TRUE(get(kinds::kPods, first).is_null());
}

TEST_F(OperatorTest, ContinuesWithoutThePodOfAWorkerThatHasSucceeded) {
  apply(kJob);
  deletes_the_first_worker_once_it_has_succeeded("resnet");
  std::string by_name = kJob;
  by_name.replace(by_name.find("resnet"), 6, "named");
  by_name.replace(by_name.find("cleanPodPolicy"), 0, "intranet: Service\n  ");
  apply(by_name.c_str());
  deletes_the_first_worker_once_it_has_succeeded("named");
}

TEST_F(OperatorTest, StopsTheRunningPeerOfAFailedJobAndKeepsItsPod) {
  apply(kJob);
  give_address("resnet-worker-0", "10.0.0.1");
  give_address("resnet-worker-1", "10.0.0.2");
  start_when_released("resnet-worker-0");
  start_when_released("resnet-worker-1");
  ASSERT_TRUE(eventually([&] { return phase(kinds::kPaddleJobs, "resnet") == "Running"; }));
  say(kinds::kPods, "resnet-worker-0", {{"phase", "Failed"}});
  ASSERT_TRUE(eventually([&] { return phase(kinds::kPaddleJobs, "resnet") == "Failed"; }));
  // The server accepts the change of the spec; the kubelet would end the pod.
  ASSERT_TRUE(eventually([&] {
    return get(kinds::kPods, "resnet-worker-1")["spec"].value("activeDeadlineSeconds", 0) == 1;
  }));
  EXPECT_FALSE(get(kinds::kPods, "resnet-worker-1")["metadata"].contains("deletionTimestamp"));
}

TEST_F(OperatorTest, AnEditedTemplateIsFollowedBeforeTheStart) {
  apply(kJob);
  give_address("resnet-worker-0", "10.0.0.1");
  const auto patched =
      plane->kubectl({"patch", "pdj", "resnet", "--type=json", "-p",
                      R"([{"op": "replace", "path": "/spec/worker/template/spec/containers/0/image",
            "value": "corrected:1"}])"});
  ASSERT_EQ(patched.exit_code, 0) << patched.err;
  EXPECT_TRUE(eventually([&] {
    const Json pod = get(kinds::kPods, "resnet-worker-0");
    return !pod.is_null() && pod["spec"]["containers"][0]["image"] == "corrected:1";
  }));
}

TEST_F(OperatorTest, RecreatesNothingForAJobThatIsDeletedInTheForeground) {
  apply(kJob);
  const std::vector<std::string> pods{"resnet-worker-0", "resnet-worker-1"};
  for (const auto& pod : pods) {
    ASSERT_TRUE(eventually([&] { return !get(kinds::kPods, pod).is_null(); }));
  }
  const auto begun =
      plane->kubectl({"delete", "pdj", "resnet", "--cascade=foreground", "--wait=false"});
  ASSERT_EQ(begun.exit_code, 0) << begun.err;
  ASSERT_TRUE(eventually([&] { return phase(kinds::kPaddleJobs, "resnet") == "Terminating"; }));
  // There is no garbage collector: this test removes the children first, then their owner.
  for (const auto& pod : pods) {
    ASSERT_TRUE(client->remove(kinds::kPods, {"default", pod}, {.grace_seconds = 0}));
  }
  std::string another = kJob;
  another.replace(another.find("resnet"), 6, "second");
  apply(another.c_str());  // queued behind the events of the first job's pods
  ASSERT_TRUE(eventually([&] { return !get(kinds::kPods, "second-worker-1").is_null(); }));
  for (const auto& pod : pods) EXPECT_TRUE(get(kinds::kPods, pod).is_null()) << pod;
  ASSERT_TRUE(client->patch(kinds::kPaddleJobs, {"default", "resnet"},
                            {.body = {{"metadata", {{"finalizers", nullptr}}}}}));
  EXPECT_TRUE(eventually([&] { return phase(kinds::kPaddleJobs, "resnet") == "(gone)"; }));
  for (const auto& pod : pods) EXPECT_TRUE(get(kinds::kPods, pod).is_null()) << pod;
}

TEST_F(OperatorTest, CreatesWhatASampleSetNeedsAndRemovesIt) {
  begin_set();
  const Json claim = get(kinds::kClaims, "imagenet");
  ASSERT_FALSE(claim.is_null());
  const std::string volume = claim["spec"]["volumeName"];
  // After the claim, whose uid it names: no other claim of that name gets it.
  ASSERT_TRUE(eventually([&] { return !get(kinds::kPersistentVolumes, volume).is_null(); }));
  EXPECT_EQ(get(kinds::kPersistentVolumes, volume)["spec"]["claimRef"]["uid"],
            claim["metadata"]["uid"]);
  EXPECT_FALSE(get(kinds::kServices, "imagenet-runtime-service").is_null());
  EXPECT_FALSE(get(kinds::kSecrets, "imagenet-runtime").is_null());

  say(kinds::kPersistentVolumes, volume, {{"phase", "Bound"}});
  say(kinds::kClaims, "imagenet", {{"phase", "Bound"}});
  ASSERT_TRUE(eventually([&] { return phase(kinds::kSampleSets, "imagenet") == "Bound"; }));
  const auto shown = plane->kubectl({"get", "sampleset", "imagenet"});
  EXPECT_NE(shown.out.find("TOTAL SIZE"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("0/2"), std::string::npos) << shown.out;

  // Another number of partitions changes the StatefulSet and nothing else.
  const auto scaled = plane->kubectl(
      {"patch", "sampleset", "imagenet", "--type=merge", "-p", R"({"spec":{"partitions":3}})"});
  ASSERT_EQ(scaled.exit_code, 0) << scaled.err;
  EXPECT_TRUE(eventually(
      [&] { return get(kinds::kStatefulSets, "imagenet-runtime")["spec"]["replicas"] == 3; }));

  const auto gone = plane->kubectl({"delete", "sampleset", "imagenet", "--wait=false"});
  ASSERT_EQ(gone.exit_code, 0) << gone.err;
  // There is no controller that releases claims and volumes: this test does it.
  EXPECT_TRUE(eventually([&] {
    for (const auto& [resource, name] : {std::pair{kinds::kClaims, std::string("imagenet")},
                                         std::pair{kinds::kPersistentVolumes, volume}}) {
      const Json object = get(resource, name);
      if (object.is_null() || !object["metadata"].contains("deletionTimestamp")) continue;
      const ObjectKey key{resource.namespaced ? "default" : "", name};
      (void)client->patch(resource, key, {.body = {{"metadata", {{"finalizers", nullptr}}}}});
    }
    return get(kinds::kPersistentVolumes, volume).is_null();  // the last of all
  }));
  EXPECT_EQ(phase(kinds::kSampleSets, "imagenet"), "(gone)");
  EXPECT_TRUE(get(kinds::kStatefulSets, "imagenet-runtime").is_null());
  EXPECT_TRUE(get(kinds::kSecrets, "imagenet-runtime").is_null());
  EXPECT_FALSE(get(kinds::kSecrets, "keys").is_null());
}

TEST_F(OperatorTest, ReportsAMissingSecretAndContinuesWhenItExists) {
  apply(kDriver);
  const std::string both = kSet;
  const size_t cut = both.find("---");
  apply(both.substr(cut).c_str());
  const auto reason = [&] { return condition("Ready").value("reason", ""); };
  ASSERT_TRUE(eventually([&] { return reason() == "ErrorSecretNotExist"; }));
  EXPECT_TRUE(get(kinds::kStatefulSets, "imagenet-runtime").is_null());
  apply(both.substr(0, cut).c_str());
  EXPECT_TRUE(eventually([&] { return !get(kinds::kStatefulSets, "imagenet-runtime").is_null(); }));
}

TEST_F(OperatorTest, ReportsAMissingDriverOfASetAndContinuesWhenItExists) {
  apply(kSet);
  ASSERT_TRUE(
      eventually([&] { return condition("Ready").value("reason", "") == "CSIDriverMissing"; }));
  const std::string said = condition("Ready")["message"];
  EXPECT_NE(said.find("samplefs.csi.paddlepaddle.org"), said.npos) << said;
  EXPECT_FALSE(get(kinds::kClaims, "imagenet").is_null());
  EXPECT_TRUE(get(kinds::kStatefulSets, "imagenet-runtime").is_null());
  apply(kDriver);
  EXPECT_TRUE(eventually([&] { return !get(kinds::kStatefulSets, "imagenet-runtime").is_null(); }));
}

// The definition of SampleSets takes it, the StatefulSet does not.
TEST_F(OperatorTest, ReportsWhyTheServerRefusesASpecAndAppliesTheRestOfIt) {
  begin_set();
  change_set(R"({"tolerations":[{"key":"gpu","operator":"Exists","value":"x"}]})");
  ASSERT_TRUE(eventually([&] { return is_refused(); }));
  const std::string said = condition("Degraded")["message"];
  EXPECT_NE(said.find("change StatefulSet imagenet-runtime"), said.npos) << said;
  EXPECT_NE(said.find("spec.template.spec.tolerations[0]"), said.npos) << said;
  EXPECT_TRUE(eventually([&] { return is_up_to_date(); }));
  EXPECT_FALSE(pod_spec().contains("tolerations"));

  change_set(R"({"partitions":3})");
  EXPECT_TRUE(eventually(
      [&] { return get(kinds::kStatefulSets, "imagenet-runtime")["spec"]["replicas"] == 3; }));
  EXPECT_TRUE(eventually([&] {
    const Json set = get(kinds::kSampleSets, "imagenet");
    return is_up_to_date() && set.value("/status/runtimeStatus/specReplicas"_json_pointer, 0) == 3;
  }));
  EXPECT_TRUE(is_refused());
  const auto events = plane->kubectl({"get", "events", "-o", "json"});
  EXPECT_NE(events.out.find("ActionRefused"), events.out.npos) << events.out;

  change_set(R"({"tolerations":[{"key":"gpu","operator":"Exists"}]})");
  EXPECT_TRUE(eventually([&] { return condition("Degraded").value("status", "") == "False"; }));
  EXPECT_TRUE(eventually([&] { return pod_spec().contains("tolerations"); }));
}

TEST_F(OperatorTest, ReportsWhichRuleRefusesAChangeAndRetriesWhenTheRuleIsGone) {
  begin_set();
  apply(kRule);
  ASSERT_TRUE(eventually([&] {  // a rule counts from a moment later on
    return plane
               ->kubectl({"annotate", "statefulset", "imagenet-runtime", "a=b", "--overwrite",
                          "--dry-run=server"})
               .exit_code != 0;
  }));
  change_set(R"({"tolerations":[{"key":"gpu","operator":"Exists"}]})");
  ASSERT_TRUE(eventually([&] { return is_refused(); }));
  const std::string said = condition("Degraded")["message"];
  EXPECT_NE(said.find("runtimes stay as they are"), said.npos) << said;
  EXPECT_TRUE(eventually([&] { return is_up_to_date(); }));
  const auto gone = plane->kubectl(
      {"delete", "validatingadmissionpolicybindings,validatingadmissionpolicies", "no-changes"});
  ASSERT_EQ(gone.exit_code, 0) << gone.err;
  const std::chrono::seconds limit{150};  // it is tried again once a minute
  EXPECT_TRUE(
      eventually([&] { return condition("Degraded").value("status", "") == "False"; }, limit));
  EXPECT_TRUE(eventually([&] { return pod_spec().contains("tolerations"); }));
}

TEST_F(OperatorTest, RemovesFromTheRuntimesWhatASetHasLost) {
  begin_set();
  const Json before = pod_spec();
  change_set(R"({
    "tolerations": [{"key": "gpu", "operator": "Exists"}],
    "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms":
      [{"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}]}}})");
  ASSERT_TRUE(eventually([&] {
    return pod_spec().contains("tolerations") && pod_spec()["affinity"].contains("nodeAffinity");
  }));
  // Relaxed: what was required is preferred.
  change_set(R"({"nodeAffinity": {
    "requiredDuringSchedulingIgnoredDuringExecution": null,
    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference":
      {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}}]}})");
  EXPECT_TRUE(eventually([&] {
    const Json affinity = pod_spec()["affinity"]["nodeAffinity"];
    return affinity.contains("preferredDuringSchedulingIgnoredDuringExecution") &&
           !affinity.contains("requiredDuringSchedulingIgnoredDuringExecution");
  }));
  change_set(R"({"tolerations": null, "nodeAffinity": null})");
  EXPECT_TRUE(eventually([&] { return pod_spec() == before; })) << pod_spec();
}

}  // namespace
}  // namespace paddle::test
