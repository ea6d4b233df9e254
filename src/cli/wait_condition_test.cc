// SPDX-License-Identifier: Apache-2.0
#include "cli/wait_condition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle::cli {
namespace {

using api::Json;
using Is = WaitState::Is;

Json object(const std::string& kind, const std::string& phase) {
  return {
      {"kind", kind},
      {"metadata", {{"generation", 2}}},
      {"status",
       {{"phase", phase},
        {"observedGeneration", 2},
        {"podIPs", Json::array({{{"ip", "10.0.0.1"}}})},
        {"conditions",
         Json::array(
             {{{"type", "Ready"}, {"status", "False"}, {"message", "worker 0 exited with 3"}}})}}}};
}
Is judged(const std::string& condition, const Json& it) {
  return judge(*parse_wait_condition(condition), it).is;
}

TEST(WaitCondition, IsReadAsInKubectl) {
  EXPECT_EQ(parse_wait_condition("condition=Ready")->value, "True");
  EXPECT_EQ(parse_wait_condition("condition=Ready=False")->value, "False");
  EXPECT_EQ(*parse_wait_condition("jsonpath={.status.phase}=Ready"),
            *parse_wait_condition("phase=Ready"));
  EXPECT_EQ(parse_wait_condition("jsonpath={.status.podIPs[0].ip}")->path,
            (std::vector<std::string>{"status", "podIPs", "0", "ip"}));
  for (const char* bad : {"", "condition", "condition=", "condition=A=", "phase=", "jsonpath=.a=b",
                          "jsonpath={.a", "jsonpath={a}=b", "jsonpath={.a}b",
                          "jsonpath={.a}=", "jsonpath={.items[?(@.a)]}=b", "create"}) {
    EXPECT_TRUE(parse_wait_condition(bad).is(Code::kInvalid)) << bad;
  }
}

TEST(WaitCondition, IsReachedByAPhaseAFieldOrACondition) {
  const Json job = object("PaddleJob", "Running");
  EXPECT_EQ(judged("phase=Running", job), Is::kThere);
  EXPECT_EQ(judged("condition=ready=false", job), Is::kThere);
  EXPECT_EQ(judged("jsonpath={.status.podIPs[0].ip}=10.0.0.1", job), Is::kThere);
  EXPECT_EQ(judged("jsonpath={.status.podIPs[0].ip}", job), Is::kThere);
  EXPECT_EQ(judged("jsonpath={.metadata.generation}=2", job), Is::kThere);
  EXPECT_EQ(judged("phase=Completed", job), Is::kNotYet);
  EXPECT_EQ(judged("condition=Ready", job), Is::kNotYet);
  EXPECT_EQ(judged("condition=Absent", job), Is::kNotYet);
  EXPECT_EQ(judged("jsonpath={.status.podIPs[1].ip}", job), Is::kNotYet);
  EXPECT_EQ(judged("delete", job), Is::kNotYet);
}

TEST(WaitCondition, CachedIsAllOfASampleSet) {
  Json set = object("SampleSet", "Ready");
  EXPECT_EQ(judged("cached", set), Is::kNotYet) << "nothing is known of it yet";
  set["status"]["cacheStatus"] = {{"totalBytes", 10}, {"cachedBytes", 9}};
  EXPECT_EQ(judged("cached", set), Is::kNotYet);
  set["status"]["cacheStatus"]["cachedBytes"] = 10;
  EXPECT_EQ(judged("cached", set), Is::kThere);
  set["status"]["phase"] = "SyncFailed";
  EXPECT_EQ(judged("cached", set), Is::kNever);
}

TEST(WaitCondition, IsGivenUpWhenTheObjectHasEndedElsewhere) {
  const auto verdict =
      judge(*parse_wait_condition("phase=Completed"), object("PaddleJob", "Failed"));
  EXPECT_EQ(verdict.is, Is::kNever);
  EXPECT_THAT(verdict.reason, testing::HasSubstr("worker 0 exited with 3"));
  EXPECT_EQ(judged("phase=Running", object("PaddleJob", "Completed")), Is::kNever);
  EXPECT_EQ(judged("phase=Ready", object("SampleSet", "SyncFailed")), Is::kNever);
  EXPECT_EQ(judged("phase=Running", object("Pod", "Succeeded")), Is::kNever);
  EXPECT_EQ(judged("phase=Failed", object("PaddleJob", "Failed")), Is::kThere);
  EXPECT_EQ(judged("delete", object("PaddleJob", "Failed")), Is::kNotYet);
  EXPECT_EQ(judged("phase=Other", object("SampleSet", "Ready")), Is::kNotYet);
}

TEST(WaitCondition, IsNotGivenUpWhileTheStatusSpeaksOfAnOlderSpec) {
  Json job = object("PaddleJob", "Failed");
  job["metadata"]["generation"] = 3;
  EXPECT_EQ(judged("phase=Completed", job), Is::kNotYet);
}

TEST(WaitCondition, SurvivesObjectsOfAnyShape) {
  for (const char* text :
       {"null", "\"text\"", "[1]", R"({"status": 1})", R"({"status": {"conditions": "none"}})"}) {
    const Json odd = Json::parse(text);
    EXPECT_EQ(judged("condition=Ready", odd), Is::kNotYet);
    EXPECT_EQ(judged("phase=Ready", odd), Is::kNotYet);
    EXPECT_EQ(explanation(odd), "");
  }
}

}  // namespace
}  // namespace paddle::cli
