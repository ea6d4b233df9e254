// SPDX-License-Identifier: Apache-2.0
#include "api/core/pod.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle::api {
namespace {

Json running_pod() {
  return Json::parse(R"({
    "metadata": {"name": "p", "namespace": "n", "labels": {"a": "b"},
                 "ownerReferences": [{"kind": "PaddleJob", "name": "j", "uid": "u", "controller": true,
                                      "apiVersion": "batch.paddlepaddle.org/v1"}]},
    "spec": {"nodeName": "node-1", "schedulingGates": [{"name": "x"}, {"name": "y"}]},
    "status": {"phase": "Running", "podIP": "10.0.0.1", "hostIP": "192.168.0.1",
      "initContainerStatuses": [{"name": "i", "ready": true,
                                 "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}],
      "containerStatuses": [{"name": "c", "ready": true, "restartCount": 2, "state": {"running": {}}}]}})");
}

TEST(Pod, ReadsWhatControllersDecideOn) {
  const auto pod = decode_pod(running_pod());
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(pod->phase, PodPhase::kRunning);
  EXPECT_EQ(pod->ip, "10.0.0.1");
  EXPECT_EQ(pod->node, "node-1");
  EXPECT_EQ(pod->gates, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(pod->meta.labels.at("a"), "b");
  EXPECT_EQ(pod->meta.controller()->name, "j");
  EXPECT_EQ(pod->containers[0].restarts, 2);
  EXPECT_TRUE(pod->all_ready());
  EXPECT_FALSE(pod->disrupted);
}

TEST(Pod, IsReadyOnlyWhenEveryContainerIs) {
  Json json = running_pod();
  json["status"]["containerStatuses"][0]["ready"] = false;
  EXPECT_FALSE(decode_pod(json)->all_ready());
  json = running_pod();
  json["status"]["initContainerStatuses"][0]["ready"] = false;
  EXPECT_FALSE(decode_pod(json)->all_ready());
  json["status"].erase("containerStatuses");
  EXPECT_FALSE(decode_pod(json)->all_ready());
}

TEST(Pod, ReportsWhyNoNodeFits) {
  Json json = running_pod();
  json["status"]["conditions"] = Json::array({Json{{"type", "PodScheduled"},
                                                   {"status", "False"},
                                                   {"reason", "Unschedulable"},
                                                   {"message", "0/3 nodes are available"}}});
  EXPECT_EQ(decode_pod(json)->unschedulable, "0/3 nodes are available");
  json["status"]["conditions"][0]["reason"] = "SchedulingGated";
  EXPECT_EQ(decode_pod(json)->unschedulable, "");
}

TEST(Pod, ReportsWhyItEnded) {
  Json json = running_pod();
  json["status"]["phase"] = "Failed";
  json["status"]["reason"] = "Evicted";
  json["status"]["conditions"] = {{{"type", "DisruptionTarget"}, {"status", "True"}}};
  json["status"]["containerStatuses"][0]["state"] = {
      {"terminated", {{"exitCode", 137}, {"reason", "OOMKilled"}}}};
  const auto pod = decode_pod(json);
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->phase, PodPhase::kFailed);
  EXPECT_EQ(pod->reason, "Evicted");
  EXPECT_TRUE(pod->disrupted);
  EXPECT_EQ(pod->containers[0].exit_code, 137);
  EXPECT_EQ(pod->containers[0].reason, "OOMKilled");
}

TEST(Pod, TreatsInvalidStatusesAsNotReported) {
  const auto pod = decode_pod(Json::parse(
      R"({"metadata":{"name":"p"},"spec":1,"status":{"phase":7,"podIP":[],"containerStatuses":[null,{"state":1,"restartCount":1e99}],"conditions":[3]}})"));
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->phase, PodPhase::kPending);
  EXPECT_EQ(pod->containers.size(), 2u);
  EXPECT_TRUE(decode_pod(Json::array()).is(Code::kInvalid));
}

}  // namespace
}  // namespace paddle::api
