// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/decide/failure_rules.h"

#include <gtest/gtest.h>

#include "controllers/paddle_job/testing/plan_fixture.h"

namespace paddle::controllers::paddle_job {
namespace {

using std::chrono::seconds;

constexpr const char* kRules = R"({"backoffLimit": 1, "failurePolicy": {"rules": [
    {"action": "Fail", "onExitCodes": {"operator": "In", "values": [42]}},
    {"action": "Ignore", "onReasons": ["OOMKilled", "Evicted"]},
    {"action": "Restart", "onExitCodes": {"operator": "NotIn", "values": [3]}}]}})";

api::PaddleJobStatus after_exit(const api::PaddleJob& job, int code, const char* why = "Error") {
  auto pod = exited(job, kWorker, 0, code);
  pod.containers[0].reason = why;
  return status_after(job, published(job, {pod}), {}, kNow + seconds{1});
}

TEST(FailureRules, FailEndsTheJobThoughItCouldRestart) {
  const auto status = after_exit(workers(1, kRules), 42);
  EXPECT_EQ(status.phase, "Failed");
  EXPECT_EQ(reason(status, "Failed"), "FailurePolicy");
  const auto& message = api::find_condition(status.conditions, "Failed")->message;
  EXPECT_NE(message.find("exit code 42"), std::string::npos);
  EXPECT_NE(message.find("rule 1 of failurePolicy"), std::string::npos);
}

TEST(FailureRules, IgnoreRestartsTheJobWithoutCountingIt) {
  auto job = workers(1, kRules);
  job.status.failures = 1;  // none is left
  auto status = after_exit(job, 137, "OOMKilled");
  EXPECT_EQ(status.phase, "Restarting");
  EXPECT_EQ(status.epoch, 1);
  EXPECT_EQ(status.failures, 1);
  EXPECT_EQ(status.ignored_failures, 1);
  // A program that always fails is not restarted without a pause.
  job.status = status;
  EXPECT_TRUE(created(plan_for(job, {}, {}, kNow + seconds{2})).empty());
}

TEST(FailureRules, AnIgnoredEvictionIsNoDisruption) {
  auto job = workers(2, kRules);
  const auto status =
      status_after(job, published(job, {running(job, kWorker, 0), evicted(job, kWorker, 1)}));
  EXPECT_EQ(status.phase, "Restarting");
  EXPECT_EQ(status.disruptions, 0);
  EXPECT_EQ(status.ignored_failures, 1);
}

TEST(FailureRules, RestartIsCountedAgainstBackoffLimit) {
  auto job = workers(1, kRules);
  const auto status = after_exit(job, 1);
  EXPECT_EQ(status.failures, 1);
  job.status = status;
  EXPECT_EQ(reason(after_exit(job, 1), "Failed"), "BackoffLimitExceeded");
}

TEST(FailureRules, WithoutAMatchTheLimitsDecide) {
  auto job = workers(1, kRules);
  EXPECT_EQ(after_exit(job, 3).failures, 1);
  job.spec.backoff_limit.reset();
  EXPECT_EQ(reason(after_exit(job, 3), "Failed"), "Failed");
}

TEST(FailureRules, TheOrderOfTheRulesDecidesNotTheOrderOfThePods) {
  auto job = workers(2, kRules);
  const auto status =
      status_after(job, published(job, {exited(job, kWorker, 0, 1), exited(job, kWorker, 1, 42)}));
  EXPECT_EQ(reason(status, "Failed"), "FailurePolicy");
}

TEST(FailureRules, ARuleForOneContainerIgnoresTheOthers) {
  auto job = workers(1, R"({"failurePolicy": {"rules": [{"action": "Ignore", "onExitCodes":
      {"containerName": "sidecar", "operator": "In", "values": [1]}}]}})");
  EXPECT_EQ(after_exit(job, 1).phase, "Failed");
  job.spec.failure_policy->rules[0].on_exit_codes->container_name = "c";
  EXPECT_EQ(after_exit(job, 1).phase, "Restarting");
}

TEST(FailureRules, FailAppliesToAContainerThatItsKubeletRestarts) {
  auto job = workers(1, R"({"intranet": "Service", "failurePolicy": {"rules": [
      {"action": "Fail", "onExitCodes": {"operator": "In", "values": [1]}}]}})");
  job.status.phase = "Running";
  const auto status = status_after(job, published(job, {crash_looping(job, kWorker, 0, 0)}));
  EXPECT_EQ(reason(status, "Failed"), "FailurePolicy");
}

TEST(FailureRules, InvalidRulesOfAnOlderSchemaAreReported) {
  for (const char* rule :
       {R"({"action": "Explode", "onReasons": ["Evicted"]})", R"({"action": "Fail"})",
        R"({"action": "Fail", "onExitCodes": {"operator": "Equals"}})"}) {
    const auto job =
        workers(1, (std::string(R"({"failurePolicy": {"rules": [)") + rule + "]}}").c_str());
    EXPECT_EQ(reason(status_after(job, {})), "InvalidSpec") << rule;
  }
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
