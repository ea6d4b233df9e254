// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/pods.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/paddle_job/rendezvous.h"

namespace paddle::controllers {
namespace {

using api::Json;

api::PaddleJob job(const char* spec) {
  Json object = {{"apiVersion", "batch.paddlepaddle.org/v1"},
                 {"kind", "PaddleJob"},
                 {"metadata", {{"name", "wad"}, {"namespace", "t"}, {"uid", "u"}}}};
  object["spec"] = Json::parse(spec);
  return *api::decode_paddle_job(object);
}

std::string env_value(const Json& container, const std::string& name) {
  std::string value = "(none)";  // the last one wins, as in the kubelet
  for (const Json& entry : container["env"]) {
    if (entry["name"] == name) value = entry.value("value", "(from a field)");
  }
  return value;
}

TEST(PodFor, KeepsTheTemplateAndAddsWhatPaddleReads) {
  const auto pod = pod_for(job(R"({"worker": {"replicas": 2, "template": {
      "metadata": {"labels": {"team": "a"}, "annotations": {"n": "1"}, "creationTimestamp": null},
      "spec": {"nodeSelector": {"gpu": "v100"},
               "containers": [{"name": "c", "image": "demo:v1", "futureField": {"x": [1]},
                 "env": [{"name": "PADDLE_TRAINER_ID", "value": "mine"}, {"name": "KEEP", "value": "k"}]},
                              {"name": "sidecar", "image": "s"}]}}}})"),
                           RoleKind::kWorker, 1);
  EXPECT_EQ(pod["metadata"]["name"], "wad-worker-1");
  EXPECT_EQ(pod["metadata"]["labels"]["team"], "a");
  EXPECT_EQ(pod["metadata"]["labels"]["paddle-res-name"], "wad-worker-1");
  EXPECT_EQ(pod["metadata"]["labels"]["paddle-res-type"], "worker");
  EXPECT_EQ(pod["metadata"]["annotations"]["paddle-resource"], "worker");
  EXPECT_EQ(pod["metadata"]["ownerReferences"][0]["uid"], "u");
  EXPECT_TRUE(pod["metadata"]["ownerReferences"][0]["controller"]);
  EXPECT_FALSE(pod["metadata"].contains("creationTimestamp"));

  const Json& spec = pod["spec"];
  EXPECT_EQ(spec["nodeSelector"]["gpu"], "v100");
  EXPECT_EQ(spec["restartPolicy"], "Never");
  const Json& c = spec["containers"][0];
  EXPECT_EQ(c["futureField"]["x"][0], 1);
  EXPECT_EQ(env_value(c, "PADDLE_TRAINER_ID"), "1");
  EXPECT_EQ(env_value(c, "KEEP"), "k");
  EXPECT_EQ(env_value(c, "TRAINING_ROLE"), "TRAINER");
  EXPECT_EQ(env_value(c, "POD_IP"), "(from a field)");
  EXPECT_EQ(c["envFrom"][0]["configMapRef"]["name"], "wad");
  EXPECT_FALSE(spec["containers"][1].contains("env"));
  EXPECT_EQ(spec["initContainers"][0]["name"], "coord-paddle");
  EXPECT_EQ(spec["initContainers"][0]["image"], "demo:v1");
}

TEST(PodFor, MountsTheSamplesInWorkersOnly) {
  const auto with_samples = job(R"({"sampleSetRef": {"name": "image.net", "mountPath": "/data"},
      "ps": {"replicas": 1, "template": {"spec": {"containers": [{"name": "c"}]}}},
      "worker": {"replicas": 1, "template": {"spec": {"containers": [{"name": "c"}]}}}})");
  const auto worker = pod_for(with_samples, RoleKind::kWorker, 0)["spec"];
  EXPECT_EQ(worker["volumes"][1]["persistentVolumeClaim"]["claimName"], "image.net");
  EXPECT_EQ(worker["volumes"][1]["name"], "samples-image-net");
  EXPECT_EQ(worker["containers"][0]["volumeMounts"][0]["mountPath"], "/data");
  EXPECT_EQ(pod_for(with_samples, RoleKind::kPs, 0)["spec"]["volumes"].size(), 1u);
}

TEST(PodFor, SurvivesATemplateWithoutContainers) {
  for (const char* spec :
       {R"({"worker": {"replicas": 1}})",
        R"({"worker": {"replicas": 1, "template": {"spec": {"containers": null}}}})"}) {
    EXPECT_TRUE(pod_for(job(spec), RoleKind::kWorker, 0)["spec"]["containers"].empty());
  }
}

TEST(Rendezvous, FollowsTheContractsVector) {
  const auto data =
      rendezvous_data(job(R"({"withGloo": 1, "ps": {"replicas": 2}, "worker": {"replicas": 2}})"),
                      {{RoleKind::kPs, {"10.0.0.1", "10.0.0.2"}},
                       {RoleKind::kWorker, {"10.0.0.3", "10.0.0.4"}},
                       {RoleKind::kHeter, {}}});
  const std::map<std::string, std::string> expected{
      {"TRAINER_PORTS_NUM", "20"},
      {"PADDLE_PORT", "36000"},
      {"PADDLE_JOB_ID", "t-wad"},
      {"PADDLE_PSERVERS_IP_PORT_LIST", "10.0.0.1:36000,10.0.0.2:36000"},
      {"PADDLE_TRAINER_ENDPOINTS", "10.0.0.3:36000,10.0.0.4:36000"},
      {"PADDLE_TRAINERS", "10.0.0.3,10.0.0.4"},
      {"PADDLE_TRAINERS_NUM", "2"},
      {"PADDLE_WITH_GLOO", "1"},
      {"PADDLE_GLOO_RENDEZVOUS", "3"},
      {"PADDLE_GLOO_HTTP_ENDPOINT", "10.0.0.1:36018"}};
  EXPECT_EQ(data, expected);
}

TEST(Rendezvous, TellsTheNewLauncherWhoIsMaster) {
  const auto data = rendezvous_data(
      job(R"({"worker": {"replicas": 2}})"),
      {{RoleKind::kPs, {}}, {RoleKind::kWorker, {"fd00::1", "fd00::2"}}, {RoleKind::kHeter, {}}});
  EXPECT_EQ(data.at("PADDLE_MASTER"), "[fd00::1]:36000");
  EXPECT_EQ(data.at("PADDLE_NNODES"), "2");
  EXPECT_FALSE(data.contains("PADDLE_WITH_GLOO"));
}

}  // namespace
}  // namespace paddle::controllers
