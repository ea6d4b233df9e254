// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/spec/queueing.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/crd/validate.h"
#include "controllers/paddle_job/names.h"
#include "controllers/paddle_job/testing/plan_fixture.h"

namespace paddle::controllers::paddle_job {
namespace {

api::PaddleJob queued_job() {
  auto job = workers(2);
  job.meta.labels[kQueueLabel] = "team-a";
  return job;
}

TEST(Queueing, AJobOfAnotherManagerIsLeftAlone) {
  auto job = workers(2);
  job.spec.managed_by = "kueue.x-k8s.io/multikueue";
  job.meta.finalizers = {kFinalizer};
  EXPECT_EQ(plan_for(job, {}), Plan{});
  EXPECT_EQ(plan_for(job, world_of(all_of(job, running))), Plan{});
  job.meta.finalizers.clear();
  job.spec.managed_by = api::kManagedByUs;
  EXPECT_EQ(created(plan_for(job, {})).size(), 2u);
}

TEST(Queueing, TheManagerOfAJobCannotBeChanged) {
  const auto job_of = [](const char* manager) {
    auto job = workers(1);
    job.spec.managed_by = manager;
    return api::encode(job);
  };
  const auto errors = [](const api::Json& now, const api::Json& before) {
    return api::validate(api::Kind::kPaddleJob, now, {.old = &before}).size();
  };
  EXPECT_EQ(errors(job_of(""), job_of("")), 0u);
  EXPECT_EQ(errors(job_of("a.b/c"), job_of("a.b/c")), 0u);
  EXPECT_EQ(errors(job_of("a.b/c"), job_of("")), 1u);
  EXPECT_EQ(errors(job_of(""), job_of("a.b/c")), 1u);
  EXPECT_FALSE(api::validate(api::Kind::kPaddleJob, job_of("no slash")).empty());
}

TEST(Queueing, ANewJobWithAQueueIsSuspendedOnceBeforeItsFirstPods) {
  auto job = queued_job();
  const auto plan = plan_for(job, {});
  EXPECT_EQ(plan.waves, std::vector<Wave>{Wave{SuspendForQueue{}}});
  EXPECT_FALSE(plan.status);

  job.spec.suspend = true;
  job.meta.annotations[kQueuedAnnotation] = "true";
  job.status = status_after(job, {});
  EXPECT_EQ(job.status.phase, "Suspended");
  const auto* ready = api::find_condition(job.status.conditions, "Ready");
  EXPECT_NE(ready->message.find("team-a"), std::string::npos) << ready->message;

  job.spec.suspend = false;  // admitted
  EXPECT_EQ(created(plan_for(job, {})).size(), 2u);
}

TEST(Queueing, AJobThatWasCreatedSuspendedOrRunsAlreadyIsNotSuspendedAgain) {
  auto job = queued_job();
  job.spec.suspend = true;  // by a webhook
  job.status = status_after(job, {});
  job.spec.suspend = false;
  EXPECT_EQ(created(plan_for(job, {})).size(), 2u);
  auto late = workers(2);
  late.status.phase = "Running";
  late.meta.labels[kQueueLabel] = "team-a";  // added while it runs
  EXPECT_TRUE(only<SuspendForQueue>(plan_for(late, {})).empty());
}

TEST(Queueing, APreemptionByTheQueueIsNotCounted) {
  auto job = queued_job();
  job.meta.annotations[kQueuedAnnotation] = "true";
  const World world = published(job, all_of(job, running));
  job.status = status_after(job, world);
  ASSERT_EQ(job.status.phase, "Running");
  job.spec.suspend = true;
  const auto plan = plan_for(job, world);
  ASSERT_TRUE(stores_first(plan));
  EXPECT_EQ(plan.status->phase, "Suspended");
  EXPECT_EQ(plan.status->failures, 0);
  EXPECT_EQ(plan.status->disruptions, 0);
}

TEST(Queueing, PodsWhoseTemplateNamesAQueueAreOneGroupPerEpoch) {
  const char* spec = R"({
      "ps": {"replicas": 1},
      "worker": {"replicas": 3, "template": {"metadata": {"labels": {
          "kueue.x-k8s.io/queue-name": "team-a"}}, "spec": {"containers": [{"name": "c"}]}}}})";
  auto job = job_with(spec);
  job.status.epoch = 2;
  job.status.phase = "Restarting";
  World world;
  world.confirmed = true;
  const auto plan = plan_for(job, world);
  const api::Json worker = manifest_of(plan, "demo-worker-0");
  EXPECT_EQ(worker["metadata"]["labels"][kQueueGroupLabel], "demo-2");
  EXPECT_EQ(worker["metadata"]["annotations"][kQueueGroupSize], "3");
  const api::Json server = manifest_of(plan, "demo-ps-0");
  EXPECT_FALSE(server["metadata"]["labels"].contains(kQueueGroupLabel));
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
