// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/objects/pod.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/paddle_job/testing/plan_fixture.h"

namespace paddle::controllers::paddle_job {
namespace {

using api::Json;

Json pod_of(const api::PaddleJob& job, RoleKind kind, int index, const Config& config = {}) {
  for (const ReplicaGroup& group : replica_groups(job.spec)) {
    if (group.kind == kind) return pod_for(job, group, index, {}, config);
  }
  return {};
}

// The last one of a name wins, as in the kubelet.
std::string env_value(const Json& container, const std::string& name) {
  std::string value = "(none)";
  for (const Json& entry : container["env"]) {
    if (entry["name"] != name) continue;
    value = entry.contains("value")
                ? entry["value"].get<std::string>()
                : "<" + entry["valueFrom"]["fieldRef"]["fieldPath"].get<std::string>();
  }
  return value;
}

api::PaddleJob launcher_job(const std::string& intranet) {
  api::PaddleJob job;
  job.meta.key = {"t", "r"};
  job.spec.intranet = intranet;
  job.spec.worker = api::Role{.replicas = 3};
  job.status.port = 40000;
  return job;
}

std::string variables_of(const api::PaddleJob& job, RoleKind kind, int index) {
  Json env = Json::array();
  for (const ReplicaGroup& group : replica_groups(job.spec)) {
    if (group.kind == kind) add_launcher_env(env, job, group, index);
  }
  std::string out;
  for (const Json& one : env) {
    out += one.value("name", "") + "=" + one.value("value", "(address)") + " ";
  }
  return out;
}

TEST(PodFor, KeepsTheTemplateAndAddsWhatPaddleReads) {
  const auto job = job_with(R"({"worker": {"replicas": 2, "template": {
      "metadata": {"labels": {"team": "a"}, "annotations": {"n": "1"}, "creationTimestamp": null},
      "spec": {"nodeSelector": {"gpu": "v100"}, "initContainers": [{"name": "mine", "image": "m"}],
               "containers": [{"name": "c", "image": "demo:v1", "futureField": {"x": [1]},
                 "env": [{"name": "PADDLE_TRAINER_ID", "value": "mine"}, {"name": "KEEP", "value": "k"}]},
                              {"name": "sidecar", "image": "s"}]}}}})");
  const auto pod = pod_of(job, kWorker, 1);
  const Json& meta = pod["metadata"];
  EXPECT_EQ(meta["name"], "demo-worker-1");
  EXPECT_EQ(meta["namespace"], "t");
  EXPECT_EQ(meta["labels"]["team"], "a");
  EXPECT_EQ(meta["labels"]["paddle-res-name"], "demo-worker-1");
  EXPECT_EQ(meta["labels"]["paddle-res-type"], "worker");
  EXPECT_EQ(meta["labels"]["batch.paddlepaddle.org/job-name"], "demo");
  EXPECT_EQ(meta["annotations"]["n"], "1");
  EXPECT_EQ(meta["annotations"]["paddle-resource"], "worker");
  EXPECT_EQ(meta["ownerReferences"][0]["uid"], "job-uid");
  EXPECT_EQ(meta["ownerReferences"][0]["apiVersion"], "batch.paddlepaddle.org/v1");
  EXPECT_TRUE(meta["ownerReferences"][0]["controller"]);
  EXPECT_TRUE(meta["ownerReferences"][0]["blockOwnerDeletion"]);
  EXPECT_FALSE(meta.contains("creationTimestamp"));

  const Json& spec = pod["spec"];
  EXPECT_EQ(spec["nodeSelector"]["gpu"], "v100");
  EXPECT_EQ(spec["restartPolicy"], "Never");
  EXPECT_EQ(spec["hostname"], "demo-worker-1");
  EXPECT_EQ(spec["subdomain"], "demo-worker-1");
  const Json& c = spec["containers"][0];
  EXPECT_EQ(c["futureField"]["x"][0], 1);
  EXPECT_EQ(env_value(c, "PADDLE_TRAINER_ID"), "1");
  EXPECT_EQ(env_value(c, "KEEP"), "k");
  EXPECT_EQ(env_value(c, "TRAINING_ROLE"), "TRAINER");
  EXPECT_EQ(env_value(c, "POD_IP"), "<status.podIP");
  EXPECT_EQ(c["envFrom"][0]["configMapRef"]["name"], "demo");
  EXPECT_FALSE(spec["containers"][1].contains("env"));
  // The coordinator is the last to wait, so that the user's own preparations are done by then.
  EXPECT_EQ(spec["initContainers"][0]["name"], "mine");
  EXPECT_EQ(spec["initContainers"][1]["name"], "coord-paddle");
  EXPECT_EQ(spec["initContainers"][1]["image"], "demo:v1");
}

TEST(PodFor, SetsTheEnvironmentOfTheContract) {
  const auto ps = pod_of(ps_job(), kPs, 1)["spec"]["containers"][0];
  EXPECT_EQ(env_value(ps, "POD_IP"), "<status.podIP");
  EXPECT_EQ(env_value(ps, "PADDLE_TRAINER_ID"), "1");
  EXPECT_EQ(env_value(ps, "TRAINING_ROLE"), "PSERVER");
  EXPECT_EQ(env_value(ps, "PADDLE_TRAINING_ROLE"), "PSERVER");
}

TEST(PodFor, PodsOfAServiceJobHaveNamesAsAddressesAndRestartTheirWorkers) {
  const auto job = ps_job(R"({"intranet": "Service"})");
  const auto worker = pod_of(job, kWorker, 0)["spec"];
  EXPECT_EQ(env_value(worker["containers"][0], "POD_IP"), "demo-worker-0");
  EXPECT_EQ(worker["containers"][0]["ports"][0]["containerPort"], 36000);
  EXPECT_EQ(worker["restartPolicy"], "OnFailure");
  EXPECT_EQ(pod_of(job, kPs, 0)["spec"]["restartPolicy"], "Never");
}

TEST(PodFor, TheTemplatesOwnRestartPolicyStays) {
  const auto job = job_with(R"({"intranet": "Service", "worker": {"replicas": 1, "template":
      {"spec": {"restartPolicy": "Never", "containers": [{"name": "c"}]}}}})");
  EXPECT_EQ(pod_of(job, kWorker, 0)["spec"]["restartPolicy"], "Never");
}

TEST(PodFor, TheRestartPolicyOfARoleIsForTemplatesWithoutOne) {
  const auto job = job_with(R"({"ps": {"replicas": 1, "restartPolicy": "OnFailure", "template":
      {"spec": {"restartPolicy": "Never", "containers": [{"name": "c"}]}}},
      "worker": {"replicas": 1, "restartPolicy": "OnFailure", "template":
      {"spec": {"containers": [{"name": "c"}]}}}})");
  EXPECT_EQ(pod_of(job, kPs, 0)["spec"]["restartPolicy"], "Never");
  EXPECT_EQ(pod_of(job, kWorker, 0)["spec"]["restartPolicy"], "OnFailure");
}

TEST(PodFor, ThePriorityClassOfThePolicyIsThatOfPodsWhoseTemplateHasNone) {
  const auto job = job_with(R"({"schedulingPolicy": {"priorityClass": "high"},
      "ps": {"replicas": 1, "template": {"spec": {"priorityClassName": "own",
             "containers": [{"name": "c"}]}}},
      "heter": {"replicas": 1, "template": {"spec": {"priority": 7,
             "containers": [{"name": "c"}]}}},
      "worker": {"replicas": 1}})");
  EXPECT_EQ(pod_of(job, kWorker, 0)["spec"]["priorityClassName"], "high");
  EXPECT_EQ(pod_of(job, kPs, 0)["spec"]["priorityClassName"], "own");
  EXPECT_FALSE(pod_of(job, kHeter, 0)["spec"].contains("priorityClassName"));
  EXPECT_FALSE(pod_of(workers(1), kWorker, 0)["spec"].contains("priorityClassName"));
}

TEST(PodFor, HostJobsDeclareTheirPortsAndResolveClusterNames) {
  auto job = ps_job(R"({"intranet": "Host"})");
  job.status.port = 35020;
  const auto spec = pod_of(job, kWorker, 0)["spec"];
  EXPECT_TRUE(spec["hostNetwork"]);
  EXPECT_EQ(spec["dnsPolicy"], "ClusterFirstWithHostNet");
  const Json& ports = spec["containers"][0]["ports"];
  ASSERT_EQ(ports.size(), 20u);
  EXPECT_EQ(ports[0]["hostPort"], 35020);
  EXPECT_EQ(ports[19]["hostPort"], 35039);
}

TEST(PodFor, B4_PodsOnTheHostNetworkResolveClusterNamesAndDoNotWaitForDns) {
  const auto job = with_port(workers(1, R"({"intranet": "Host"})"), 35040);
  const Json pod = manifest_of(plan_for(job, {}), "demo-worker-0");
  EXPECT_EQ(pod["spec"]["dnsPolicy"], "ClusterFirstWithHostNet");
  const std::string script = pod["spec"]["initContainers"][0]["command"][2];
  EXPECT_EQ(script.find("nslookup"), std::string::npos);
}

TEST(PodFor, AContainerNamedPaddleIsTheTrainingContainer) {
  const auto job = job_with(R"({"worker": {"replicas": 1, "template": {"spec": {"containers": [
      {"name": "proxy", "image": "p"}, {"name": "paddle", "image": "demo:v1"}]}}}})");
  const auto spec = pod_of(job, kWorker, 0)["spec"];
  EXPECT_FALSE(spec["containers"][0].contains("envFrom"));
  EXPECT_TRUE(spec["containers"][1].contains("envFrom"));
  EXPECT_EQ(spec["initContainers"][0]["image"], "demo:v1");
}

TEST(PodFor, TheCoordinatorTakesTheImageOfTheFlagAndKeepsGuaranteedPodsGuaranteed) {
  const auto coord =
      pod_of(workers(1), kWorker, 0, {.init_image = "tools:v1"})["spec"]["initContainers"][0];
  EXPECT_EQ(coord["image"], "tools:v1");
  EXPECT_EQ(coord["resources"]["requests"], coord["resources"]["limits"]);
}

TEST(PodFor, B25_TheCoordinatorNeedsNoPublicImageAndHasLimitsInMebibytes) {
  const Json pod = manifest_of(plan_for(workers(1), {}), "demo-worker-0");
  const Json& coord = pod["spec"]["initContainers"][0];
  EXPECT_EQ(coord["image"], pod["spec"]["containers"][0]["image"]);
  EXPECT_EQ(coord["resources"]["limits"]["memory"], "64Mi");
  EXPECT_EQ(coord["resources"]["limits"], coord["resources"]["requests"]);
}

TEST(PodFor, ElasticPodsKnowTheirEtcdAndHaveNoCoordinator) {
  const auto job = job_with(R"({"elastic": 1, "worker": {"replicas": 3}})", "r");
  const auto spec = pod_of(job, kWorker, 0, {.etcd = {"http://e:2379"}})["spec"];
  const Json& c = spec["containers"][0];
  EXPECT_EQ(env_value(c, "PADDLE_ELASTIC_JOB_ID"), "t-r");
  EXPECT_EQ(env_value(c, "PADDLE_ELASTIC_NP"), "3");
  EXPECT_EQ(env_value(c, "PADDLE_ELASTIC_TIMEOUT"), "60");
  EXPECT_EQ(env_value(c, "PADDLE_ELASTIC_SERVER"), "e:2379");
  EXPECT_FALSE(c.contains("envFrom"));
  EXPECT_EQ(spec["restartPolicy"], "OnFailure");
  EXPECT_FALSE(spec.contains("initContainers"));
}

TEST(PodFor, AcceptsATemplateWithoutContainers) {
  for (const char* spec :
       {R"({"worker": {"replicas": 1, "template": null}})",
        R"({"worker": {"replicas": 1, "template": {"spec": {"containers": null}}}})",
        R"({"worker": {"replicas": 1, "template": {"metadata": null, "spec": null}}})"}) {
    EXPECT_TRUE(pod_of(job_with(spec), kWorker, 0)["spec"]["containers"].empty());
  }
}

TEST(LauncherEnv, TheFirstWorkerOfAServiceJobKnowsItsOwnAddress) {
  const auto job = launcher_job("Service");
  EXPECT_EQ(variables_of(job, kWorker, 0),
            "PADDLE_OWN_IP=(address) "
            "PADDLE_TRAINER_ENDPOINTS=$(PADDLE_OWN_IP):36000,r-worker-1:36000,r-worker-2:36000 ");
  EXPECT_EQ(variables_of(job, kWorker, 1), "");
}

TEST(LauncherEnv, AnIpv6AddressIsNotPassedToTheLauncher) {
  Json env = Json::array();
  const auto job = launcher_job("Service");
  add_launcher_env(env, job, replica_groups(job.spec).front(), 0, true);
  EXPECT_TRUE(env.empty());
}

TEST(LauncherEnv, TrainersOfParameterServersKeepTheirNames) {
  auto job = launcher_job("Service");
  job.spec.ps = api::Role{.replicas = 1};
  EXPECT_EQ(variables_of(job, kWorker, 0), "");
  EXPECT_EQ(variables_of(job, kPs, 0), "");
}

TEST(LauncherEnv, TheFirstPodOfAllTasksKnowsItsOwnAddressAndTheNamesOfTheOthers) {
  auto job = launcher_job("Service");
  job.spec.worker.reset();
  job.spec.tasks = {{api::Role{.replicas = 1}, "gpu-1"}, {api::Role{.replicas = 2}, "xpu"}};
  const auto groups = replica_groups(job.spec);
  Json env = Json::array();
  add_launcher_env(env, job, groups[1], 0);
  EXPECT_TRUE(env.empty());
  add_launcher_env(env, job, groups[0], 0);
  EXPECT_EQ(env[1]["value"], "$(PADDLE_OWN_IP):36000,r-xpu-0:36000,r-xpu-1:36000");
  job.spec.mode = "Single";
  env = Json::array();
  add_launcher_env(env, job, replica_groups(job.spec)[0], 0);
  EXPECT_TRUE(env.empty());
}

TEST(LauncherEnv, OnTheHostNetworkTheLauncherStaysWithinThePortsOfTheJob) {
  EXPECT_EQ(variables_of(launcher_job("Host"), kWorker, 1), "PORT_RANGE=40001:40017 ");
  EXPECT_EQ(variables_of(launcher_job(""), kWorker, 0), "");
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
