// SPDX-License-Identifier: Apache-2.0
//
// The program paddle-operator on a real API server, with stock kubectl as the user and this test as
// the kubelet. The server's own validation judges every object that the operator makes.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kube/client.h"
#include "test/support/control_plane.h"
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

struct OperatorTest : ::testing::Test {
  std::unique_ptr<ControlPlane> plane{};
  std::unique_ptr<kube::Client> client{};

  void SetUp() override {
    auto started = ControlPlane::start();
    ASSERT_TRUE(started) << started.error().message;
    plane = *std::move(started);
    auto config = kube::load_config({.path = plane->kubeconfig()}, {});
    ASSERT_TRUE(config) << config.error().message;
    client = std::make_unique<kube::Client>(*std::move(config));
    const auto crds = plane->kubectl({"apply", "-f", PADDLE_SOURCE_DIR "/deploy/v1/crd.yaml"});
    ASSERT_EQ(crds.exit_code, 0) << crds.err;
    ASSERT_TRUE(eventually([&] {
      return plane->kubectl({"get", "pdj,samplesets,samplejobs"}).exit_code == 0;
    }));
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
};

TEST_F(OperatorTest, RunsACollectiveJobWithTheContractsNamesAndColumns) {
  apply(kJob);
  const std::vector<std::string> pods{"resnet-worker-0", "resnet-worker-1"};
  for (size_t i = 0; i < pods.size(); ++i) {
    ASSERT_TRUE(eventually([&] { return !get(kinds::kPods, pods[i]).is_null(); }));
    say(kinds::kPods, pods[i],
        {{"phase", "Pending"},
         {"podIP", "10.0.0." + std::to_string(i + 1)},
         {"podIPs", Json::array({Json{{"ip", "10.0.0." + std::to_string(i + 1)}}})}});
  }
  ASSERT_TRUE(eventually([&] { return !get(kinds::kConfigMaps, "resnet").is_null(); }));
  EXPECT_EQ(get(kinds::kConfigMaps, "resnet")["data"]["PADDLE_TRAINER_ENDPOINTS"],
            "10.0.0.1:36000,10.0.0.2:36000");
  for (size_t i = 0; i < pods.size(); ++i) {
    EXPECT_TRUE(eventually([&] {
      return get(kinds::kPods, pods[i])["metadata"]["annotations"].contains(
          "batch.paddlepaddle.org/release");
    }));
    say(kinds::kPods, pods[i],
        {{"phase", "Running"},
         {"containerStatuses", Json::array({Json{{"name", "main"},
                                                 {"image", "paddle:3"},
                                                 {"imageID", ""},
                                                 {"restartCount", 0},
                                                 {"ready", true},
                                                 {"state", {{"running", Json::object()}}}}})}});
  }
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

TEST_F(OperatorTest, MakesNothingAnewForAJobThatIsDeletedInTheForeground) {
  apply(kJob);
  const std::vector<std::string> pods{"resnet-worker-0", "resnet-worker-1"};
  for (const auto& pod : pods) {
    ASSERT_TRUE(eventually([&] { return !get(kinds::kPods, pod).is_null(); }));
  }
  const auto begun =
      plane->kubectl({"delete", "pdj", "resnet", "--cascade=foreground", "--wait=false"});
  ASSERT_EQ(begun.exit_code, 0) << begun.err;
  ASSERT_TRUE(eventually([&] { return phase(kinds::kPaddleJobs, "resnet") == "Terminating"; }));
  // There is no garbage collector: this test is it. Children go first, then their owner.
  for (const auto& pod : pods) {
    ASSERT_TRUE(client->remove(kinds::kPods, {"default", pod}, {.grace_seconds = 0}));
  }
  std::string another = kJob;
  another.replace(another.find("resnet"), 6, "second");
  apply(another.c_str());  // queued behind what the first job's pods had to tell
  ASSERT_TRUE(eventually([&] { return !get(kinds::kPods, "second-worker-1").is_null(); }));
  for (const auto& pod : pods) EXPECT_TRUE(get(kinds::kPods, pod).is_null()) << pod;
  ASSERT_TRUE(client->patch(kinds::kPaddleJobs, {"default", "resnet"},
                            {.body = {{"metadata", {{"finalizers", nullptr}}}}}));
  EXPECT_TRUE(eventually([&] { return phase(kinds::kPaddleJobs, "resnet") == "(gone)"; }));
  for (const auto& pod : pods) EXPECT_TRUE(get(kinds::kPods, pod).is_null()) << pod;
}

TEST_F(OperatorTest, MakesWhatASampleSetNeedsAndRemovesIt) {
  apply(kSet);
  ASSERT_TRUE(eventually([&] { return !get(kinds::kStatefulSets, "imagenet-runtime").is_null(); }));
  const Json claim = get(kinds::kClaims, "imagenet");
  ASSERT_FALSE(claim.is_null());
  const std::string volume = claim["spec"]["volumeName"];
  EXPECT_FALSE(get(kinds::kPersistentVolumes, volume).is_null());
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
  // There is no controller that lets claims and volumes go: this test is it.
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

TEST_F(OperatorTest, SaysWhichSecretIsMissingAndGoesOnWhenItComes) {
  const std::string both = kSet;
  const size_t cut = both.find("---");
  apply(both.substr(cut).c_str());
  const auto reason = [&] {
    for (const Json& each : get(kinds::kSampleSets, "imagenet")
                                .value("/status/conditions"_json_pointer, Json::array())) {
      if (each["type"] == "Ready") return each["reason"].get<std::string>();
    }
    return std::string();
  };
  ASSERT_TRUE(eventually([&] { return reason() == "ErrorSecretNotExist"; }));
  EXPECT_TRUE(get(kinds::kStatefulSets, "imagenet-runtime").is_null());
  apply(both.substr(0, cut).c_str());
  EXPECT_TRUE(eventually([&] { return !get(kinds::kStatefulSets, "imagenet-runtime").is_null(); }));
}

}  // namespace
}  // namespace paddle::test
