// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/objects/pod.h"

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

TEST(PodFor, KeepsTheTemplateAndAddsWhatPaddleReads) {
  const auto job = job_with(R"({"worker": {"replicas": 2, "template": {
      "metadata": {"labels": {"team": "a"}, "annotations": {"n": "1"}, "creationTimestamp": null},
      "spec": {"nodeSelector": {"gpu": "v100"}, "initContainers": [{"name": "mine", "image": "m"}],
               "containers": [{"name": "c", "image": "demo:v1", "futureField": {"x": [1]},
                 "env": [{"name": "PADDLE_TRAINER_ID", "value": "mine"}, {"name": "KEEP", "value": "k"}]},
                              {"name": "sidecar", "image": "s"}]}}}})");
  const auto pod = pod_of(job, RoleKind::kWorker, 1);
  const Json& meta = pod["metadata"];
  EXPECT_EQ(meta["name"], "wad-worker-1");
  EXPECT_EQ(meta["namespace"], "t");
  EXPECT_EQ(meta["labels"]["team"], "a");
  EXPECT_EQ(meta["labels"]["paddle-res-name"], "wad-worker-1");
  EXPECT_EQ(meta["labels"]["paddle-res-type"], "worker");
  EXPECT_EQ(meta["labels"]["batch.paddlepaddle.org/job-name"], "wad");
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
  EXPECT_EQ(spec["hostname"], "wad-worker-1");
  EXPECT_EQ(spec["subdomain"], "wad-worker-1");
  const Json& c = spec["containers"][0];
  EXPECT_EQ(c["futureField"]["x"][0], 1);
  EXPECT_EQ(env_value(c, "PADDLE_TRAINER_ID"), "1");
  EXPECT_EQ(env_value(c, "KEEP"), "k");
  EXPECT_EQ(env_value(c, "TRAINING_ROLE"), "TRAINER");
  EXPECT_EQ(env_value(c, "POD_IP"), "<status.podIP");
  EXPECT_EQ(c["envFrom"][0]["configMapRef"]["name"], "wad");
  EXPECT_FALSE(spec["containers"][1].contains("env"));
  // The coordinator is the last to wait, so that the user's own preparations are done by then.
  EXPECT_EQ(spec["initContainers"][0]["name"], "mine");
  EXPECT_EQ(spec["initContainers"][1]["name"], "coord-paddle");
  EXPECT_EQ(spec["initContainers"][1]["image"], "demo:v1");
}

TEST(PodFor, TheEnvironmentOfTheContractsVector) {
  const auto ps = pod_of(ps_job(), RoleKind::kPs, 1)["spec"]["containers"][0];
  EXPECT_EQ(env_value(ps, "POD_IP"), "<status.podIP");
  EXPECT_EQ(env_value(ps, "PADDLE_TRAINER_ID"), "1");
  EXPECT_EQ(env_value(ps, "TRAINING_ROLE"), "PSERVER");
  EXPECT_EQ(env_value(ps, "PADDLE_TRAINING_ROLE"), "PSERVER");
}

TEST(PodFor, ServiceJobsAreCalledByNameAndRestartTheirWorkers) {
  const auto job = ps_job(R"({"intranet": "Service"})");
  const auto worker = pod_of(job, RoleKind::kWorker, 0)["spec"];
  EXPECT_EQ(env_value(worker["containers"][0], "POD_IP"), "wad-worker-0");
  EXPECT_EQ(worker["containers"][0]["ports"][0]["containerPort"], 36000);
  EXPECT_EQ(worker["restartPolicy"], "OnFailure");
  EXPECT_EQ(pod_of(job, RoleKind::kPs, 0)["spec"]["restartPolicy"], "Never");
}

TEST(PodFor, TheTemplatesOwnRestartPolicyStays) {
  const auto job = job_with(R"({"intranet": "Service", "worker": {"replicas": 1, "template":
      {"spec": {"restartPolicy": "Never", "containers": [{"name": "c"}]}}}})");
  EXPECT_EQ(pod_of(job, RoleKind::kWorker, 0)["spec"]["restartPolicy"], "Never");
}

TEST(PodFor, ARolesRestartPolicyIsForTemplatesWithoutOne) {
  const auto job = job_with(R"({"ps": {"replicas": 1, "restartPolicy": "OnFailure", "template":
      {"spec": {"restartPolicy": "Never", "containers": [{"name": "c"}]}}},
      "worker": {"replicas": 1, "restartPolicy": "OnFailure", "template":
      {"spec": {"containers": [{"name": "c"}]}}}})");
  EXPECT_EQ(pod_of(job, RoleKind::kPs, 0)["spec"]["restartPolicy"], "Never");
  EXPECT_EQ(pod_of(job, RoleKind::kWorker, 0)["spec"]["restartPolicy"], "OnFailure");
}

TEST(PodFor, HostJobsDeclareTheirPortsAndResolveClusterNames) {
  auto job = ps_job(R"({"intranet": "Host"})");
  job.status.port = 35020;
  const auto spec = pod_of(job, RoleKind::kWorker, 0)["spec"];
  EXPECT_TRUE(spec["hostNetwork"]);
  EXPECT_EQ(spec["dnsPolicy"], "ClusterFirstWithHostNet");
  const Json& ports = spec["containers"][0]["ports"];
  ASSERT_EQ(ports.size(), 20u);
  EXPECT_EQ(ports[0]["hostPort"], 35020);
  EXPECT_EQ(ports[19]["hostPort"], 35039);
}

TEST(PodFor, AContainerCalledPaddleIsTheTrainingContainer) {
  const auto job = job_with(R"({"worker": {"replicas": 1, "template": {"spec": {"containers": [
      {"name": "proxy", "image": "p"}, {"name": "paddle", "image": "demo:v1"}]}}}})");
  const auto spec = pod_of(job, RoleKind::kWorker, 0)["spec"];
  EXPECT_FALSE(spec["containers"][0].contains("envFrom"));
  EXPECT_TRUE(spec["containers"][1].contains("envFrom"));
  EXPECT_EQ(spec["initContainers"][0]["image"], "demo:v1");
}

TEST(PodFor, TheCoordinatorTakesTheImageOfTheFlagAndKeepsGuaranteedPodsGuaranteed) {
  const auto coord = pod_of(workers(1), RoleKind::kWorker, 0,
                            {.init_image = "tools:v1"})["spec"]["initContainers"][0];
  EXPECT_EQ(coord["image"], "tools:v1");
  EXPECT_EQ(coord["resources"]["requests"], coord["resources"]["limits"]);
}

TEST(PodFor, ElasticPodsKnowTheirEtcdAndWaitForNobody) {
  const auto job = job_with(R"({"elastic": 1, "worker": {"replicas": 3}})", "r");
  const auto spec = pod_of(job, RoleKind::kWorker, 0, {.etcd = {"http://e:2379"}})["spec"];
  const Json& c = spec["containers"][0];
  EXPECT_EQ(env_value(c, "PADDLE_ELASTIC_JOB_ID"), "t-r");
  EXPECT_EQ(env_value(c, "PADDLE_ELASTIC_NP"), "3");
  EXPECT_EQ(env_value(c, "PADDLE_ELASTIC_TIMEOUT"), "60");
  EXPECT_EQ(env_value(c, "PADDLE_ELASTIC_SERVER"), "e:2379");
  EXPECT_FALSE(c.contains("envFrom"));
  EXPECT_EQ(spec["restartPolicy"], "OnFailure");
  EXPECT_FALSE(spec.contains("initContainers"));
}

TEST(PodFor, SurvivesATemplateWithoutContainers) {
  for (const char* spec :
       {R"({"worker": {"replicas": 1, "template": null}})",
        R"({"worker": {"replicas": 1, "template": {"spec": {"containers": null}}}})",
        R"({"worker": {"replicas": 1, "template": {"metadata": null, "spec": null}}})"}) {
    EXPECT_TRUE(pod_of(job_with(spec), RoleKind::kWorker, 0)["spec"]["containers"].empty());
  }
}

TEST(Rendezvous, FollowsTheContractsVector) {
  const auto data = peer_data(ps_job(R"({"withGloo": 1})"), {{"ps", {"10.0.0.1", "10.0.0.2"}},
                                                             {"worker", {"10.0.0.3", "10.0.0.4"}}});
  const std::map<std::string, std::string> expected{
      {"TRAINER_PORTS_NUM", "20"},
      {"PADDLE_PORT", "36000"},
      {"PADDLE_PSERVERS_IP_PORT_LIST", "10.0.0.1:36000,10.0.0.2:36000"},
      {"PADDLE_TRAINER_ENDPOINTS", "10.0.0.3:36000,10.0.0.4:36000"},
      {"PADDLE_TRAINERS", "10.0.0.3,10.0.0.4"},
      {"PADDLE_TRAINERS_NUM", "2"},
      {"PADDLE_WITH_GLOO", "1"},
      {"PADDLE_GLOO_RENDEZVOUS", "3"},
      {"PADDLE_GLOO_HTTP_ENDPOINT", "10.0.0.1:36018"},
      // Beyond the contract, for the launcher of Paddle 2.3 and later.
      {"PADDLE_JOB_ID", "t-wad"},
      {"PADDLE_MASTER", "10.0.0.3:36000"},
      {"PADDLE_NNODES", "2"}};
  EXPECT_EQ(data, expected);
}

TEST(Rendezvous, TheContractsServiceVector) {
  const auto job = ps_job(R"({"intranet": "Service", "withGloo": 1})");
  const auto data = peer_data(job, addresses(job, assign_pods(job, {})));
  EXPECT_EQ(data.at("PADDLE_PSERVERS_IP_PORT_LIST"), "wad-ps-0:36000,wad-ps-1:36000");
  EXPECT_EQ(data.at("PADDLE_TRAINERS"), "wad-worker-0,wad-worker-1");
  EXPECT_EQ(data.at("PADDLE_GLOO_HTTP_ENDPOINT"), "wad-ps-0:36018");
  EXPECT_EQ(data.at("PADDLE_PORT"), "36000");
}

TEST(Rendezvous, HeterogeneousTrainersAreNamedForTheGoOperatorAndForPaddle) {
  const auto job = job_with(R"({"ps": {"replicas": 1}, "worker": {"replicas": 1},
      "heter": {"replicas": 1, "template": {"spec": {"containers": [
        {"name": "c", "resources": {"limits": {"nvidia.com/gpu": 1}}}]}}}})");
  const auto data = peer_data(job, {{"heter", {"10.0.0.9"}}});
  EXPECT_EQ(data.at("PADDLE_HETER_ENDPOINTS"), "10.0.0.9:36000");
  EXPECT_EQ(data.at("PADDLE_HETER_TRAINER_IP_PORT_LIST"), "10.0.0.9:36000");
  EXPECT_EQ(data.at("PADDLE_HETER_TRAINER_DEVICE"), "gpu");
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
