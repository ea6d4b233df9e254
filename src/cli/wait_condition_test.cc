// SPDX-License-Identifier: Apache-2.0
#include "cli/wait_condition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle::cli {
namespace {

using api::Json;
using Progress = WaitState::Progress;

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
Progress progress_of(const std::string& condition, const Json& it) {
  return evaluate(*parse_wait_condition(condition), it).progress;
}

TEST(WaitCondition, IsParsedAsInKubectl) {
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

TEST(WaitCondition, IsMetByAPhaseAFieldOrACondition) {
  const Json job = object("PaddleJob", "Running");
  EXPECT_EQ(progress_of("phase=Running", job), Progress::kMet);
  EXPECT_EQ(progress_of("condition=ready=false", job), Progress::kMet);
  EXPECT_EQ(progress_of("jsonpath={.status.podIPs[0].ip}=10.0.0.1", job), Progress::kMet);
  EXPECT_EQ(progress_of("jsonpath={.status.podIPs[0].ip}", job), Progress::kMet);
  EXPECT_EQ(progress_of("jsonpath={.metadata.generation}=2", job), Progress::kMet);
  EXPECT_EQ(progress_of("phase=Completed", job), Progress::kNotYet);
  EXPECT_EQ(progress_of("condition=Ready", job), Progress::kNotYet);
  EXPECT_EQ(progress_of("condition=Absent", job), Progress::kNotYet);
  EXPECT_EQ(progress_of("jsonpath={.status.podIPs[1].ip}", job), Progress::kNotYet);
  EXPECT_EQ(progress_of("delete", job), Progress::kNotYet);
}

TEST(WaitCondition, CachedRequiresAllOfASampleSet) {
  Json set = object("SampleSet", "Ready");
  EXPECT_EQ(progress_of("cached", set), Progress::kNotYet) << "nothing is known of it yet";
  set["status"]["cacheStatus"] = {{"totalBytes", 10}, {"cachedBytes", 9}};
  EXPECT_EQ(progress_of("cached", set), Progress::kNotYet);
  set["status"]["cacheStatus"]["cachedBytes"] = 10;
  EXPECT_EQ(progress_of("cached", set), Progress::kMet);
}

TEST(WaitCondition, IsNeverMetByAnObjectInAnotherFinalPhase) {
  const auto state =
      evaluate(*parse_wait_condition("phase=Completed"), object("PaddleJob", "Failed"));
  EXPECT_EQ(state.progress, Progress::kNever);
  EXPECT_THAT(state.reason, testing::HasSubstr("worker 0 exited with 3"));
  EXPECT_EQ(progress_of("phase=Running", object("PaddleJob", "Completed")), Progress::kNever);
  EXPECT_EQ(progress_of("phase=Running", object("Pod", "Succeeded")), Progress::kNever);
  EXPECT_EQ(progress_of("phase=Failed", object("PaddleJob", "Failed")), Progress::kMet);
  EXPECT_EQ(progress_of("delete", object("PaddleJob", "Failed")), Progress::kNotYet);
  EXPECT_EQ(progress_of("phase=Other", object("SampleSet", "Ready")), Progress::kNotYet);
}

TEST(WaitCondition, MayStillBeMetByASyncThatFailedBecauseItIsRetried) {
  const Json set = object("SampleSet", "SyncFailed");
  EXPECT_EQ(progress_of("phase=Ready", set), Progress::kNotYet);
  EXPECT_EQ(progress_of("cached", set), Progress::kNotYet);
}

TEST(WaitCondition, MayStillBeMetWhileTheStatusIsOfAnOlderSpec) {
  Json job = object("PaddleJob", "Failed");
  job["metadata"]["generation"] = 3;
  EXPECT_EQ(progress_of("phase=Completed", job), Progress::kNotYet);
}

TEST(Explanation, NamesOurCommandsInsteadOfThoseOfKubectl) {
  Json job = object("PaddleJob", "Failed");
  job["status"]["conditions"][0]["message"] =
      "pod a failed; see kubectl logs a -c main, or kubectl describe pod a";
  EXPECT_EQ(explanation(job),
            "pod a failed; see paddlectl local logs a -c main, or paddlectl local describe pod a");
}

TEST(WaitCondition, SurvivesObjectsOfAnyShape) {
  for (const char* text :
       {"null", "\"text\"", "[1]", R"({"status": 1})", R"({"status": {"conditions": "none"}})"}) {
    const Json odd = Json::parse(text);
    EXPECT_EQ(progress_of("condition=Ready", odd), Progress::kNotYet);
    EXPECT_EQ(progress_of("phase=Ready", odd), Progress::kNotYet);
    EXPECT_EQ(explanation(odd), "");
  }
}

}  // namespace
}  // namespace paddle::cli
