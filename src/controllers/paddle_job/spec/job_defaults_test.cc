// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/spec/job_defaults.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/paddle_job/testing/plan_fixture.h"

namespace paddle::controllers::paddle_job {
namespace {

using api::Json;

Json merged(const char* defaults, const char* over) {
  return merged_under(Json::parse(defaults), Json::parse(over));
}

TEST(JobDefaults, WhatTheJobSaysWins) {
  EXPECT_EQ(merged(R"({"a": 1, "b": {"c": 2, "d": 3}})", R"({"b": {"d": 4}, "e": 5})"),
            Json::parse(R"({"a": 1, "b": {"c": 2, "d": 4}, "e": 5})"));
  EXPECT_EQ(merged(R"({"a": {"b": 1}})", R"({"a": "text"})"), Json::parse(R"({"a": "text"})"));
}

TEST(JobDefaults, ListsAreMergedByName) {
  EXPECT_EQ(merged(R"([{"name": "A", "value": "1"}, {"name": "B", "value": "2"}])",
                   R"([{"name": "B", "value": "3"}, {"name": "C", "value": "4"}])"),
            Json::parse(R"([{"name": "A", "value": "1"}, {"name": "B", "value": "3"},
                            {"name": "C", "value": "4"
}])"));
  const char* toleration = R"([{"key": "gpu", "operator": "Exists"}])";
  EXPECT_EQ(merged(toleration, toleration), Json::parse(toleration));
  EXPECT_EQ(merged(toleration, "[]"), Json::parse(toleration));
  EXPECT_EQ(merged(R"([{"mountPath": "/a", "name": "x"}])", R"([{"mountPath": "/b"}])").size(), 2u);
}

TEST(JobDefaults, AContainerNamedStarIsMergedIntoEveryContainer) {
  const auto job = job_with(R"({"ps": {"replicas": 1}, "worker": {"replicas": 1, "template": {
      "spec": {"containers": [{"name": "a", "env": [{"name": "X", "value": "own"}]},
                              {"name": "b"}]}}}})");
  const auto defaults = parse_defaults({{"template", R"(
metadata:
  labels: {team: vision}
spec:
  schedulerName: mine
  imagePullSecrets: [{name: registry}]
  tolerations: [{key: gpu, operator: Exists}]
  containers:
  - name: "*"
    env: [{name: X, value: "1"}, {name: Y, value: "2"}]
)"}});
  ASSERT_TRUE(defaults) << defaults.error().message;
  const auto plan = plan_for(with_defaults(job, *defaults), {});
  const Json pod = manifest_of(plan, "demo-worker-0");
  EXPECT_EQ(pod["metadata"]["labels"]["team"], "vision");
  EXPECT_EQ(pod["spec"]["schedulerName"], "mine");
  EXPECT_EQ(pod["spec"]["imagePullSecrets"][0]["name"], "registry");
  EXPECT_EQ(pod["spec"]["tolerations"].size(), 1u);
  const Json& containers = pod["spec"]["containers"];
  ASSERT_EQ(containers.size(), 2u);
  EXPECT_EQ(containers[0]["env"][0], Json::parse(R"({"name": "Y", "value": "2"})"));
  EXPECT_EQ(containers[0]["env"][1], Json::parse(R"({"name": "X", "value": "own"})"));
  EXPECT_EQ(containers[1]["env"].size(), 2u);
  EXPECT_EQ(manifest_of(plan, "demo-ps-0")["spec"]["schedulerName"], "mine");
}

TEST(JobDefaults, OnlyAPartOfATemplateIsAccepted) {
  EXPECT_TRUE(parse_defaults({})->is_null());
  EXPECT_TRUE(parse_defaults({{"other", "text"}})->is_null());
  for (const char* text :
       {"[1]", "text", "containers: []", "spec: text", "a: [", "spec: {}\nb: 1"}) {
    EXPECT_TRUE(parse_defaults({{"template", text}}).is(Code::kInvalid)) << text;
  }
}

TEST(JobDefaults, OddTemplatesNeverThrow) {
  for (const char* over :
       {"null", "3", "[]", "{}", R"({"spec": 3})", R"({"spec": {"containers": 3}})",
        R"({"spec": {"containers": [3, null, "a"]}})"}) {
    (void)merged(R"({"spec": {"containers": [{"name": "*", "env": []}, {"name": 3}, 4]}})", over);
  }
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
