// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/objects/peer_config_map.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/paddle_job/objects/pod.h"
#include "controllers/paddle_job/testing/plan_fixture.h"

namespace paddle::controllers::paddle_job {
namespace {

using api::Json;

TEST(PeerConfigMap, HasTheVariablesOfTheContract) {
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
      {"PADDLE_JOB_ID", "t-demo"},
      {"PADDLE_MASTER", "10.0.0.3:36000"},
      {"PADDLE_NNODES", "2"}};
  EXPECT_EQ(data, expected);
}

TEST(PeerConfigMap, HasTheNamesOfServicesInAServiceJob) {
  const auto job = ps_job(R"({"intranet": "Service", "withGloo": 1})");
  const auto data = peer_data(job, addresses(job, assign_pods(job, {})));
  EXPECT_EQ(data.at("PADDLE_PSERVERS_IP_PORT_LIST"), "demo-ps-0:36000,demo-ps-1:36000");
  EXPECT_EQ(data.at("PADDLE_TRAINERS"), "demo-worker-0,demo-worker-1");
  EXPECT_EQ(data.at("PADDLE_GLOO_HTTP_ENDPOINT"), "demo-ps-0:36018");
  EXPECT_EQ(data.at("PADDLE_PORT"), "36000");
}

TEST(PeerConfigMap, NamesHeterogeneousTrainersForTheGoOperatorAndForPaddle) {
  const auto job = job_with(R"({"ps": {"replicas": 1}, "worker": {"replicas": 1},
      "heter": {"replicas": 1, "template": {"spec": {"containers": [
        {"name": "c", "resources": {"limits": {"nvidia.com/gpu": 1}}}]}}}})");
  const auto data = peer_data(job, {{"heter", {"10.0.0.9"}}});
  EXPECT_EQ(data.at("PADDLE_HETER_ENDPOINTS"), "10.0.0.9:36000");
  EXPECT_EQ(data.at("PADDLE_HETER_TRAINER_IP_PORT_LIST"), "10.0.0.9:36000");
  EXPECT_EQ(data.at("PADDLE_HETER_TRAINER_DEVICE"), "gpu");
}

TEST(PeerConfigMap, B1_ServiceModeUsesOnePortEverywhereAndItsServicesCoverIt) {
  const auto job = ps_job(R"({"intranet": "Service"})");
  const auto data = data_of(job);
  const std::string port = data.at("PADDLE_PORT");
  EXPECT_EQ(data.at("PADDLE_PSERVERS_IP_PORT_LIST"), "demo-ps-0:" + port + ",demo-ps-1:" + port);
  const Json ports = service_for(job, replica_groups(job.spec).front(), 0)["spec"]["ports"];
  ASSERT_EQ(ports.size(), 20u);
  EXPECT_EQ(std::to_string(ports[0]["port"].get<int>()), port);
  EXPECT_EQ(ports[19]["port"].get<int>(), std::stoi(port) + 19);
  EXPECT_EQ(ports[19]["name"], "p-19");
}

TEST(PeerConfigMap, B2_GlooListensEighteenPortsFurtherInEveryIntranet) {
  EXPECT_EQ(data_of(ps_job(R"({"withGloo": 1})")).at("PADDLE_GLOO_HTTP_ENDPOINT"),
            "10.0.0.1:36018");
  EXPECT_EQ(
      data_of(ps_job(R"({"withGloo": 2, "intranet": "Service"})")).at("PADDLE_GLOO_HTTP_ENDPOINT"),
      "demo-ps-0:36018");
  EXPECT_EQ(data_of(with_port(ps_job(R"({"withGloo": 1, "intranet": "Host"})"), 41000))
                .at("PADDLE_GLOO_HTTP_ENDPOINT"),
            "10.0.0.1:41018");
  EXPECT_FALSE(data_of(workers(2, R"({"withGloo": 1})")).contains("PADDLE_WITH_GLOO"));
}

TEST(PeerConfigMap, B3_HostModeHasTheSamePortInListsAndInPaddlePort) {
  const auto data = data_of(with_port(ps_job(R"({"intranet": "Host"})"), 35040));
  EXPECT_EQ(data.at("PADDLE_PORT"), "35040");
  EXPECT_EQ(data.at("PADDLE_TRAINER_ENDPOINTS"), "10.0.1.1:35040,10.0.1.2:35040");
}

TEST(PeerConfigMap, B15_HeterogeneousTrainersHaveTheRoleThatPaddleReads) {
  const auto job = job_with(R"({"ps": {"replicas": 1}, "worker": {"replicas": 1},
                                "heter": {"replicas": 1}})");
  const auto env = manifest_of(plan_for(job, {}), "demo-heter-0")["spec"]["containers"][0]["env"];
  EXPECT_NE(env.dump().find(R"("TRAINING_ROLE","value":"HETER_TRAINER")"), std::string::npos);
  EXPECT_NE(env.dump().find(R"("PADDLE_TRAINING_ROLE","value":"HETER")"), std::string::npos);
  const auto data = data_of(job);
  EXPECT_EQ(data.at("PADDLE_HETER_TRAINER_IP_PORT_LIST"), "10.0.2.1:36000");
  EXPECT_EQ(data.at("PADDLE_HETER_TRAINER_DEVICE"), "cpu");
  EXPECT_EQ(to_string(kHeter), "heter");
}

TEST(PeerConfigMap, B16_IPv6AddressesAreBracketedAndBlockNothing) {
  auto job = workers(2);
  auto pods = all_of(job, coordinated);
  pods[0].ip = "fd00::1";
  pods[1].ip = "fd00::2";
  const auto plan = plan_for(job, world_of(pods));
  const Json data = manifest_of(plan, "demo", OwnedKind::kConfigMap)["data"];
  EXPECT_EQ(data["PADDLE_TRAINER_ENDPOINTS"], "[fd00::1]:36000,[fd00::2]:36000");
  EXPECT_EQ(data["PADDLE_MASTER"], "[fd00::1]:36000");
  EXPECT_EQ(data["PADDLE_TRAINERS"], "fd00::1,fd00::2");
  EXPECT_EQ(only<ReleasePod>(plan)[1].value, "0/fd00::2");
}

TEST(PeerConfigMap, B28_TheLauncherGetsTheNumberOfNodesAndHostPodsRunOnDifferentNodes) {
  const auto job = with_port(workers(2, R"({"intranet": "Host"})"), 35000);
  EXPECT_EQ(data_of(job).at("PADDLE_NNODES"), "2");
  EXPECT_EQ(data_of(job).at("PADDLE_MASTER"), "10.0.1.1:35000");
  EXPECT_EQ(data_of(job).at("PADDLE_JOB_ID"), "t-demo");
  const Json pod = manifest_of(plan_for(job, {}), "demo-worker-1");
  // The same host port twice: the scheduler itself keeps them off one node.
  EXPECT_EQ(pod["spec"]["containers"][0]["ports"][0]["hostPort"], 35000);
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
