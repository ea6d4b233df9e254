// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/decide/template_change.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/paddle_job/decide/status.h"
#include "controllers/paddle_job/testing/plan_fixture.h"

namespace paddle::controllers::paddle_job {
namespace {

void set_image(api::PaddleJob& job, const char* image) {
  api::Json pod = *job.spec.worker->pod_template;
  pod["spec"]["containers"][0]["image"] = image;
  job.spec.worker->pod_template = api::Opaque(pod);
  ++job.meta.generation;
}

World running_world(const api::PaddleJob& job) {
  return published(job, with_hashes(job, all_of(job, running)));
}

// Pods of an elastic job have no coordinator, and the job no ConfigMap.
World elastic_world(const api::PaddleJob& job) {
  auto pods = with_hashes(job, all_of(job, running));
  for (api::Pod& pod : pods) {
    pod.init_containers.clear();
    pod.meta.annotations.erase(kReleaseAnnotation);
  }
  return world_of(pods);
}

TEST(TemplateChange, BeforeAnyProgramHasStartedPodsFollowTheTemplate) {
  auto job = workers(2);
  job.status = status_after(job, world_of(with_hashes(job, all_of(job, pending))));
  const auto stuck = [&](const api::Pod& from) {
    api::Pod pod = from;  // with an address: its ConfigMap has been written
    pod.init_containers = {{.name = kCoordinator, .reason = "ImagePullBackOff"}};
    return with_hash(job, pod);
  };
  const auto world =
      published(job, {stuck(coordinated(job, kWorker, 0)), stuck(coordinated(job, kWorker, 1))});
  EXPECT_EQ(reason(status_after(job, world)), "ImagePullBackOff");

  set_image(job, "corrected");
  const auto plan = plan_for(job, world);
  ASSERT_TRUE(stores_first(plan));
  EXPECT_EQ(plan.status->epoch, 1);
  EXPECT_EQ(plan.status->failures + plan.status->disruptions, 0);
  EXPECT_EQ(reason(*plan.status), "TemplateChanged");
  job.status = *plan.status;
  EXPECT_EQ(deleted(plan_for(job, world)), (Names{"demo-worker-0", "demo-worker-1"}));
  const auto pod = manifest_of(plan_for(job, {}), "demo-worker-0");
  EXPECT_EQ(pod["spec"]["containers"][0]["image"], "corrected");
}

TEST(TemplateChange, ARunningJobSaysWhatTheEditWouldRestart) {
  auto job = workers(2);
  const auto world = running_world(job);
  job.status = status_after(job, world);
  EXPECT_EQ(reason(job.status, "UpdatePending"), "(none)");

  set_image(job, "other");
  const auto plan = plan_for(job, world);
  EXPECT_TRUE(plan.waves.empty());
  ASSERT_TRUE(plan.status);
  EXPECT_EQ(plan.status->epoch, 0);
  EXPECT_EQ(plan.status->phase, "Running");
  EXPECT_EQ(reason(*plan.status, "UpdatePending"), "TemplateChanged");
  const auto& message = api::find_condition(plan.status->conditions, "UpdatePending")->message;
  EXPECT_NE(message.find("kubectl annotate pdj demo batch.paddlepaddle.org/restart="),
            std::string::npos);
  const auto events = status_events(job, *plan.status);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].reason, "TemplateChanged");

  set_image(job, "i");  // as it was
  EXPECT_EQ(reason(status_after(job, world), "UpdatePending"), "(none)");
}

TEST(TemplateChange, ANewValueOfTheAnnotationRestartsTheJobOnce) {
  auto job = workers(2);
  auto world = running_world(job);
  job.status = status_after(job, world);
  set_image(job, "other");
  job.meta.annotations[kRestartAnnotation] = "1";
  const auto plan = plan_for(job, world);
  ASSERT_TRUE(stores_first(plan));
  EXPECT_EQ(plan.status->epoch, 1);
  EXPECT_EQ(plan.status->restart_request, "1");
  EXPECT_EQ(reason(*plan.status), "RestartRequested");
  EXPECT_EQ(plan.status->failures + plan.status->disruptions, 0);
  EXPECT_EQ(reason(*plan.status, "UpdatePending"), "(none)");

  job.status = *plan.status;
  world = running_world(job);
  EXPECT_EQ(status_after(job, world).epoch, 1);
  job.meta.annotations[kRestartAnnotation] = "2";
  EXPECT_EQ(status_after(job, world).epoch, 2);
}

TEST(TemplateChange, AJobThatIsCreatedWithTheAnnotationDoesNotRestart) {
  auto job = workers(1);
  job.meta.annotations[kRestartAnnotation] = "1";
  job.status = status_after(job, {});
  EXPECT_EQ(job.status.restart_request, "1");
  EXPECT_EQ(status_after(job, running_world(job)).epoch, 0);
}

TEST(TemplateChange, AFinishedJobIsNotRestarted) {
  auto job = workers(1, R"({"cleanPodPolicy": "Never"})");
  job.status.phase = "Completed";
  job.meta.annotations[kRestartAnnotation] = "1";
  const auto world = published(job, {exited(job, kWorker, 0, 0)});
  EXPECT_EQ(status_after(job, world).epoch, 0);
  EXPECT_EQ(status_after(job, world).phase, "Completed");
}

TEST(TemplateChange, ASuspensionBringsTheNewTemplate) {
  auto job = workers(1);
  const auto world = running_world(job);
  job.status = status_after(job, world);
  set_image(job, "other");
  job.spec.suspend = true;
  job.status = status_after(job, world);
  EXPECT_EQ(job.status.epoch, 1);
  job.spec.suspend = false;
  const auto pod = manifest_of(plan_for(job, {}), "demo-worker-0");
  EXPECT_EQ(pod["spec"]["containers"][0]["image"], "other");
}

TEST(TemplateChange, ServiceAndElasticJobsNeverMixTwoTemplates) {
  const Config config{.etcd = {"http://e:2379"}};
  for (const char* spec : {R"({"intranet": "Service"})", R"({"elastic": 1})"}) {
    auto job = workers(2, spec);
    auto world = job.spec.elastic ? elastic_world(job) : running_world(job);
    world.elastic.replicas = StoredReplicas{.value = "2", .revision = 1};
    job.status = status_after(job, world, config);
    ASSERT_EQ(job.status.phase, "Running") << spec;
    world.pods.pop_back();  // its node is gone
    for (const char* name : {"demo-worker-0", "demo-worker-1"}) {
      world.services.push_back({.meta = {.key = {"t", name}, .uid = name}});
    }
    world.confirmed = true;
    EXPECT_EQ(created(plan_for(job, world, config)), Names{"demo-worker-1"}) << spec;

    set_image(job, "other");
    const auto plan = plan_for(job, world, config);
    ASSERT_TRUE(stores_first(plan)) << spec;
    EXPECT_EQ(plan.status->epoch, 1) << spec;
    EXPECT_EQ(reason(*plan.status), "TemplateChanged") << spec;
    EXPECT_EQ(plan.status->disruptions, 0) << spec;
    world.confirmed = false;  // the informer may be late
    EXPECT_TRUE(confirms_pods(plan_for(job, world, config))) << spec;
  }
}

TEST(TemplateChange, PodsOfAnOlderOperatorCountAsCurrent) {
  auto job = workers(2);
  const auto world = published(job, all_of(job, running));
  job.status = status_after(job, world);
  set_image(job, "other");
  const auto status = status_after(job, world);
  EXPECT_EQ(status.epoch, 0);
  EXPECT_EQ(reason(status, "UpdatePending"), "(none)");
}

TEST(TemplateChange, AnotherSampleSetIsAnotherTemplate) {
  auto job = workers(1, R"({"sampleSetRef": {"name": "s", "mountPath": "/s"}})");
  const auto world = running_world(job);
  job.status = status_after(job, world);
  job.spec.sample_set->name = "other";
  EXPECT_EQ(reason(status_after(job, world), "UpdatePending"), "TemplateChanged");
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
