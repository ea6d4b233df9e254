// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/decide/cleanup.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/paddle_job/testing/plan_fixture.h"

namespace paddle::controllers::paddle_job {
namespace {

TEST(Cleanup, TheFinalPhaseIsStoredBeforeAnythingIsDeleted) {
  const auto job = workers(1);
  const auto plan = plan_for(job, published(job, {exited(job, kWorker, 0, 0)}));
  EXPECT_TRUE(stores_first(plan));
  EXPECT_TRUE(plan.waves.empty());
  ASSERT_TRUE(plan.status);
  EXPECT_EQ(plan.status->phase, "Completed");
  EXPECT_EQ(plan.status->completion_time, kNow);
  EXPECT_EQ(reason(*plan.status, "Complete"), "Completed");
}

TEST(Cleanup, TheCleanPodPolicyDecidesWhetherPodsAreDeleted) {
  const struct {
    const char* policy;
    bool after_success, after_failure;
  } cases[] = {{R"({})", true, false},
               {R"({"cleanPodPolicy":"Always"})", true, true},
               {R"({"cleanPodPolicy":"OnCompletion"})", true, false},
               {R"({"cleanPodPolicy":"OnFailure"})", false, true},
               {R"({"cleanPodPolicy":"Never"})", false, false},
               {R"({"cleanPodPolicy":"OnFailed"})", false, false}};
  for (const auto& c : cases) {
    auto job = workers(1, c.policy);
    job.status.phase = "Completed";
    EXPECT_EQ(!deleted(plan_for(job, published(job, {exited(job, kWorker, 0, 0)}))).empty(),
              c.after_success)
        << c.policy;
    job.status.phase = "Failed";
    EXPECT_EQ(!deleted(plan_for(job, published(job, {exited(job, kWorker, 0, 1)}))).empty(),
              c.after_failure)
        << c.policy;
  }
}

TEST(Cleanup, ItDeletesPodsServicesAndTheConfigMap) {
  auto job = workers(1, R"({"intranet": "Service"})");
  job.status.phase = "Completed";
  auto world = published(job, {exited(job, kWorker, 0, 0)});
  world.services = {{.meta = {.key = {"t", "demo-worker-0"}, .uid = "s"}}};
  const auto plan = plan_for(job, world);
  EXPECT_EQ(deleted(plan), Names{"demo-worker-0"});
  EXPECT_EQ(deleted(plan, OwnedKind::kService), Names{"demo-worker-0"});
  EXPECT_EQ(deleted(plan, OwnedKind::kConfigMap), Names{"demo"});
}

TEST(Cleanup, NothingIsCreatedForAFinishedJob) {
  for (const char* phase : {"Completed", "Failed"}) {
    auto job = workers(2, R"({"intranet": "Service"})");
    job.status.phase = phase;
    EXPECT_TRUE(plan_for(job, World{}).waves.empty());
  }
}

TEST(Cleanup, B7_NothingIsCreatedForAFinishedJobWhateverIsDeleted) {
  for (const char* phase : {"Completed", "Failed"}) {
    auto job = ps_job(R"({"cleanPodPolicy": "Never"})");
    job.status.phase = phase;
    EXPECT_TRUE(created(plan_for(job, published(job, {exited(job, kWorker, 0, 1)}))).empty());
  }
}

TEST(Cleanup, B7_PodsThatNeverStartedAreDeletedAfterAFailure) {
  auto job = workers(3, R"({"cleanPodPolicy": "Never"})");
  auto early = exited(job, kWorker, 0, 1);  // in an init container of the user's
  early.meta.annotations.erase(kReleaseAnnotation);
  const auto world = world_of({early, pending(job, kWorker, 1)});
  const auto plan = plan_for(job, world);
  EXPECT_EQ(plan.status->phase, "Failed");
  EXPECT_TRUE(plan.waves.empty());
  job.status = *plan.status;
  EXPECT_EQ(deleted(plan_for(job, world)), Names{"demo-worker-1"});
}

TEST(Cleanup, RunningPeersOfAFailedJobAreStoppedAndKeptForTheirLogs) {
  for (const char* policy : {R"({})", R"({"cleanPodPolicy": "Never"})"}) {
    auto job = workers(3, policy);
    job.status.phase = "Failed";
    job.status.completion_time = kNow;
    auto ending = running(job, kWorker, 2);
    ending.active_deadline_seconds = 1;  // stopped already
    const auto world =
        published(job, {exited(job, kWorker, 0, 1), running(job, kWorker, 1), ending});
    const auto plan = plan_for(job, world);
    EXPECT_EQ(stopped(plan), Names{"demo-worker-1"}) << policy;
    EXPECT_TRUE(deleted(plan).empty()) << policy;
    EXPECT_EQ(plan.requeue_after, kStopTimeout);
    const Patch patch = only<Patch>(plan).at(0);
    EXPECT_FALSE(patch.json_patch);
    EXPECT_EQ((*patch.body)["metadata"]["uid"], "demo-worker-1@0");
  }
}

TEST(Cleanup, APodThatItsNodeDoesNotStopIsDeletedInTheEnd) {
  auto job = workers(2);
  job.status.phase = "Failed";
  job.status.completion_time = kNow;
  auto ending = running(job, kWorker, 1);
  ending.active_deadline_seconds = 1;
  const auto world = published(job, {exited(job, kWorker, 0, 1), ending});
  const auto plan = plan_for(job, world, {}, kNow + kStopTimeout);
  EXPECT_EQ(deleted(plan), Names{"demo-worker-1"});
  EXPECT_TRUE(stopped(plan).empty());
}

TEST(Cleanup, PodsThatCleanPodPolicyDeletesAreNotStoppedFirst) {
  auto job = workers(2, R"({"cleanPodPolicy": "OnFailure"})");
  job.status.phase = "Failed";
  const auto world = published(job, {exited(job, kWorker, 0, 1), running(job, kWorker, 1)});
  const auto plan = plan_for(job, world);
  EXPECT_EQ(deleted(plan), (Names{"demo-worker-0", "demo-worker-1"}));
  EXPECT_TRUE(stopped(plan).empty());
}

TEST(Cleanup, B9_ServersAreDeletedWhenTheWorkersHaveSucceeded) {
  auto job = ps_job(R"({"cleanPodPolicy": "Never"})");
  const auto world = published(job, {running(job, kPs, 0), running(job, kPs, 1),
                                     exited(job, kWorker, 0, 0), exited(job, kWorker, 1, 0)});
  job.status = status_after(job, world);
  EXPECT_EQ(job.status.phase, "Completed");
  EXPECT_EQ(deleted(plan_for(job, world)), (Names{"demo-ps-0", "demo-ps-1"}));
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
