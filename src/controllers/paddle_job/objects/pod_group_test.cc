// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/objects/pod_group.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/paddle_job/testing/plan_fixture.h"

namespace paddle::controllers::paddle_job {
namespace {

using api::Json;

api::Role role_of(int replicas, const char* resources, const char* scheduler = "") {
  Json spec = {
      {"containers", Json::array({Json{{"name", "main"}, {"resources", Json::parse(resources)}}})}};
  if (*scheduler != '\0') spec["schedulerName"] = scheduler;
  return {.replicas = replicas, .pod_template = api::Opaque(Json{{"spec", spec}})};
}

// deploy/examples/wide_and_deep_volcano.yaml in short.
api::PaddleJob wide_and_deep() {
  api::PaddleJob job;
  job.meta.key = {"t", "demo"};
  job.meta.uid = "uid-1";
  job.spec.ps = role_of(2, R"({"limits":{"cpu":"300m"}})");
  job.spec.worker = role_of(2, R"({"requests":{"cpu":"200m"}})", "volcano");
  job.spec.scheduling_policy = api::SchedulingPolicy{.queue = "default"};
  return job;
}

// The group as the server would show it.
PodGroupSummary stored(const api::PaddleJob& job, const std::string& phase = "Pending") {
  Json object = *pod_group_for(job);
  object["metadata"]["uid"] = "group-1";
  object["metadata"]["resourceVersion"] = "7";
  object["status"]["phase"] = phase;
  return *decode_pod_group(object);
}

Json patch_of(const api::PaddleJob& job, const PodGroupSummary& group) {
  const auto patch = pod_group_patch(job, group);
  EXPECT_TRUE(patch) << patch.error().message;
  return patch && *patch ? **patch : Json();
}

TEST(PodGroup, IsUsedWithTheFlagUnlessATemplateNamesAnotherScheduler) {
  auto job = wide_and_deep();
  EXPECT_TRUE(uses_pod_group(job.spec, "volcano"));
  EXPECT_FALSE(uses_pod_group(job.spec, ""));
  EXPECT_FALSE(uses_pod_group(job.spec, "kueue"));
  job.spec.ps = role_of(2, "{}", "default-scheduler");
  EXPECT_FALSE(uses_pod_group(job.spec, "volcano"));
}

TEST(PodGroup, APolicyThatHasNoEffectIsNamedWithItsReason) {
  auto job = wide_and_deep();
  job.spec.scheduling_policy = api::SchedulingPolicy{.min_available = 2, .queue = "q"};
  EXPECT_EQ(why_no_gang(job.spec, "volcano"), "");
  const std::string text = why_no_gang(job.spec, "");
  EXPECT_TRUE(text.starts_with("schedulingPolicy.minAvailable, queue has no effect")) << text;
  EXPECT_NE(text.find("--scheduling=volcano"), std::string::npos) << text;
  job.spec.worker->pod_template = role_of(1, "{}", "mine").pod_template;
  EXPECT_NE(why_no_gang(job.spec, "volcano").find("scheduler mine"), std::string::npos);
  job.spec.scheduling_policy = api::SchedulingPolicy{.priority_class = "high"};
  EXPECT_EQ(why_no_gang(job.spec, ""), "") << "pods get it with every scheduler";
  job.spec.scheduling_policy.reset();
  EXPECT_EQ(why_no_gang(job.spec, ""), "");
}

TEST(PodGroup, APolicyThatHasNoEffectIsAWarningOfTheJob) {
  const auto job = workers(1, R"({"schedulingPolicy": {"queue": "q"}})");
  const auto status = status_after(job, {});
  EXPECT_EQ(reason(status, "Warning"), "CheckSpec");
}

TEST(PodGroup, ReservesTheRequestsOfAllPods) {
  const Json group = *pod_group_for(wide_and_deep());
  EXPECT_EQ(group["apiVersion"], "scheduling.volcano.sh/v1beta1");
  EXPECT_EQ(group["metadata"]["name"], "demo");
  EXPECT_EQ(group["metadata"]["ownerReferences"][0]["uid"], "uid-1");
  EXPECT_EQ(group["metadata"]["ownerReferences"][0]["controller"], true);
  EXPECT_EQ(group["spec"],
            Json::parse(R"({"minMember":4,"minResources":{"cpu":"1"},"queue":"default"})"));
}

TEST(PodGroup, FollowsTheSchedulingPolicy) {
  auto job = wide_and_deep();
  job.spec.scheduling_policy =
      api::SchedulingPolicy{.min_available = 3,
                            .queue = "fast",
                            .priority_class = "high",
                            .min_resources = api::Opaque(Json{{"cpu", 8}, {"memory", "1Gi"}})};
  EXPECT_EQ((*pod_group_for(job))["spec"],
            Json::parse(R"({"minMember":3,"minResources":{"cpu":8,"memory":"1Gi"},
                            "queue":"fast","priorityClassName":"high"})"));
}

TEST(PodGroup, CountsGpusThatOnlyLimitsNameAndInitContainers) {
  auto job = wide_and_deep();
  job.spec.ps.reset();
  Json spec = Json::parse(R"({"initContainers":[{"resources":{"requests":{"memory":"4Gi"}}}],
      "containers":[{"resources":{"requests":{"cpu":"2","memory":"1Gi"},
                                  "limits":{"cpu":"4","nvidia.com/gpu":1}}}]})");
  job.spec.worker->pod_template = api::Opaque(Json{{"spec", spec}});
  EXPECT_EQ((*pod_group_for(job))["spec"]["minResources"],
            Json::parse(R"({"cpu":"4","memory":"8Gi","nvidia.com/gpu":"2"})"));
}

TEST(PodGroup, AnInvalidQuantityIsAnError) {
  auto job = wide_and_deep();
  job.spec.worker = role_of(2, R"({"requests":{"cpu":"lots"}})");
  const auto refused = pod_group_for(job);
  ASSERT_TRUE(refused.is(Code::kInvalid));
  EXPECT_NE(refused.error().message.find("worker template: cpu"), std::string::npos);
}

TEST(PodGroup, IsNotPatchedWhenNothingDiffers) {
  const auto job = wide_and_deep();
  EXPECT_EQ(patch_of(job, stored(job)), Json());
  auto spelt = stored(job);
  Json spec = *spelt.spec;
  spec["minResources"]["cpu"] = "1000m";
  spec["minTaskMember"] = Json::object();
  spelt.spec = api::Opaque(spec);
  EXPECT_EQ(patch_of(job, spelt), Json()) << "another spelling, and what others added";
}

TEST(PodGroup, ReservesNothingWhileOnlyDataIsMissing) {
  const auto job = wide_and_deep();
  EXPECT_EQ((*pod_group_for(job, Reservation::kNone))["spec"],
            Json::parse(R"({"minMember":4,"queue":"default"})"));
  const auto full = stored(job);
  const auto less = pod_group_patch(job, full, Reservation::kNone);
  ASSERT_TRUE(less && *less);
  EXPECT_EQ((**less)["spec"], Json::parse(R"({"minResources":null})"));

  auto waits = full;
  Json spec = *full.spec;
  spec.erase("minResources");
  waits.spec = api::Opaque(spec);
  EXPECT_EQ(*pod_group_patch(job, waits, Reservation::kNone), std::nullopt);
  EXPECT_EQ(patch_of(job, waits)["spec"], Json::parse(R"({"minResources":{"cpu":"1"}})"));
}

TEST(PodGroup, FollowsAResizeWithItsUidAndVersion) {
  auto job = wide_and_deep();
  const auto before = stored(job);
  job.spec.worker->replicas = 4;
  EXPECT_EQ(patch_of(job, before),
            Json::parse(R"({"metadata":{"uid":"group-1","resourceVersion":"7"},
      "spec":{"minMember":6,"minResources":{"cpu":"1400m"}}})"));
}

TEST(PodGroup, DropsResourcesAndAPriorityThatAreNoLongerWanted) {
  auto job = wide_and_deep();
  job.spec.worker = role_of(2, R"({"limits":{"nvidia.com/gpu":1}})");
  job.spec.scheduling_policy->priority_class = "high";
  const auto before = stored(job);
  job = wide_and_deep();
  const Json patch = patch_of(job, before);
  EXPECT_EQ(patch["spec"], Json::parse(R"({"minResources":{"cpu":"1","nvidia.com/gpu":null},
                                           "priorityClassName":null})"));
}

TEST(PodGroup, AQueueThatVolcanoHasSetStays) {
  auto job = wide_and_deep();
  job.spec.scheduling_policy.reset();
  auto group = stored(job);
  Json spec = *group.spec;
  spec["queue"] = "default";
  group.spec = api::Opaque(spec);
  EXPECT_EQ(patch_of(job, group), Json());
  job.spec.scheduling_policy = api::SchedulingPolicy{.queue = "fast"};
  EXPECT_EQ(patch_of(job, group)["spec"], (Json{{"queue", "fast"}}));
}

TEST(PodGroup, AGroupOfAnotherOwnerIsNeverChanged) {
  auto job = wide_and_deep();
  auto group = stored(job);
  job.spec.worker->replicas = 4;
  group.meta.owners.clear();
  EXPECT_EQ(patch_of(job, group), Json());
  group = stored(job);
  job.spec.worker->replicas = 5;
  job.meta.uid = "uid-2";
  EXPECT_EQ(patch_of(job, group), Json());
}

TEST(PodGroup, BlocksTheFirstPodsUntilVolcanoAdmitsTheGroup) {
  const auto job = wide_and_deep();
  for (const char* phase : {"Inqueue", "Running"}) {
    EXPECT_FALSE(pod_group_block_reason(job, stored(job, phase))) << phase;
  }
  for (const char* phase : {"", "Pending", "Unknown", "Completed"}) {
    const auto waits = pod_group_block_reason(job, stored(job, phase));
    ASSERT_TRUE(waits) << phase;
    EXPECT_EQ(waits->reason, "PodGroupNotAdmitted");
  }
  EXPECT_NE(pod_group_block_reason(job, std::nullopt)->message.find("demo"), std::string::npos);
}

TEST(PodGroup, PodsHaveTheAnnotationsThatVolcanoReads) {
  auto job = wide_and_deep();
  job.status.epoch = 2;
  Json pod = Json::parse(R"({"metadata":{"annotations":{"mine":"1"}},"spec":{"containers":[]}})");
  join_pod_group(pod, job, replica_groups(job.spec)[1]);
  EXPECT_EQ(pod["spec"]["schedulerName"], "volcano");
  EXPECT_EQ(pod["metadata"]["annotations"], Json::parse(R"({"mine":"1",
      "scheduling.k8s.io/group-name":"demo","volcano.sh/task-spec":"worker",
      "volcano.sh/job-name":"demo","volcano.sh/job-version":"2","volcano.sh/queue-name":"default"})"));
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
