// SPDX-License-Identifier: Apache-2.0
//
// Jobs written as tasks, as in the heter branch of the Go operator: their ranks, environment,
// starts and counters.

#include "controllers/paddle_job/spec/replica_group.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/paddle_job/spec/elastic.h"
#include "controllers/paddle_job/spec/validation.h"
#include "controllers/paddle_job/testing/plan_fixture.h"

namespace paddle::controllers::paddle_job {
namespace {

using api::Json;

constexpr const char* kServersAndTrainers = R"({"mode": "PS", "withGloo": 1, "tasks": [
    {"name": "ps-1", "replicas": 1}, {"name": "ps-2", "replicas": 1},
    {"name": "trainer", "replicas": 2}]})";
constexpr const char* kTwoDevices = R"({"mode": "Collective", "tasks": [
    {"name": "gpu-1", "replicas": 1}, {"name": "xpu-22", "replicas": 2}]})";

api::Pod succeeded(const api::PaddleJob& job, RoleKind kind, int index) {
  return exited(job, kind, index, 0);
}

std::map<std::string, Json> manifests(const api::PaddleJob& job, const Config& config = {}) {
  std::map<std::string, Json> found;
  for (const Create& a : only<Create>(plan_for(job, {}, config))) found[a.key.name] = *a.manifest;
  return found;
}
std::string env_of(const Json& pod, const std::string& name) {
  for (const Json& one : pod["spec"]["containers"][0]["env"]) {
    if (one["name"] == name) return one.value("value", "");
  }
  return "none";
}

TEST(Tasks, AreServersOrTrainersByTheirNames) {
  const auto job = job_with(kServersAndTrainers, "j");
  const auto pods = manifests(job);
  const auto look = [&](const char* name) {
    const Json& pod = pods.at(name);
    const Json& annotations = pod["metadata"]["annotations"];
    return env_of(pod, "TRAINING_ROLE") + " " + env_of(pod, "PADDLE_TRAINER_ID") + " global " +
           annotations["paddle-global-rank"].get<std::string>() + " local " +
           annotations["paddle-local-rank"].get<std::string>();
  };
  EXPECT_EQ(look("j-ps-1-0"), "PSERVER 0 global 0 local 0");
  EXPECT_EQ(look("j-ps-2-0"), "PSERVER 1 global 1 local 1");
  EXPECT_EQ(look("j-trainer-0"), "TRAINER 0 global 2 local 0");
  EXPECT_EQ(look("j-trainer-1"), "TRAINER 1 global 3 local 1");

  const Json& meta = pods.at("j-ps-2-0")["metadata"];
  EXPECT_EQ(meta["labels"]["paddle-pod-key"], "j-ps-2-0");
  EXPECT_EQ(meta["labels"]["paddle-task-name"], "ps-2");
  EXPECT_EQ(meta["labels"]["paddle-res-type"], "ps");
  EXPECT_EQ(meta["annotations"]["paddle-task-type"], "PS");
  EXPECT_EQ(meta["annotations"]["paddle-task-rank"], "1");
  EXPECT_EQ(meta["annotations"]["paddle-pod-rank"], "0");
  EXPECT_EQ(pods.at("j-ps-2-0")["spec"]["restartPolicy"], "OnFailure");

  const auto data = data_of(job);
  EXPECT_EQ(data.at("PADDLE_PSERVERS_IP_PORT_LIST"), "10.0.0.1:36000,10.0.0.2:36000");
  EXPECT_EQ(data.at("PADDLE_TRAINER_ENDPOINTS"), "10.0.1.1:36000,10.0.1.2:36000");
  EXPECT_EQ(data.at("PADDLE_TRAINERS_NUM"), "2");
  EXPECT_EQ(data.at("PADDLE_GLOO_HTTP_ENDPOINT"), "10.0.0.1:36018");
  EXPECT_FALSE(data.contains("PADDLE_TRAINERS_TYPES"));
}

TEST(Tasks, OfACollectiveJobHaveConsecutiveRanks) {
  const auto job = job_with(kTwoDevices, "j");
  const auto pods = manifests(job);
  EXPECT_EQ(env_of(pods.at("j-gpu-1-0"), "PADDLE_TRAINER_ID"), "0");
  EXPECT_EQ(env_of(pods.at("j-xpu-22-0"), "PADDLE_TRAINER_ID"), "1");
  EXPECT_EQ(env_of(pods.at("j-xpu-22-1"), "PADDLE_TRAINER_ID"), "2");
  EXPECT_EQ(env_of(pods.at("j-xpu-22-1"), "TRAINING_ROLE"), "TRAINER");
  const auto data = data_of(job);
  EXPECT_EQ(data.at("PADDLE_TRAINERS_TYPES"), "GPU,XPU,XPU");
  EXPECT_EQ(data.at("PADDLE_TRAINERS_NUM"), "3");
  EXPECT_EQ(data.at("PADDLE_TRAINERS"), "10.0.1.1,10.0.1.2,10.0.1.3");
  EXPECT_EQ(data.at("PADDLE_MASTER"), "10.0.1.1:36000");
  EXPECT_EQ(data.at("PADDLE_NNODES"), "3");
}

TEST(Tasks, DetermineTheModeOfAJobWithoutOne) {
  auto job =
      job_with(R"({"tasks": [{"name": "ps", "replicas": 1}, {"name": "worker", "replicas": 2},
                                    {"name": "driver", "replicas": 1}]})");
  EXPECT_EQ(mode_of(job.spec), "PS");
  const auto data = data_of(job);
  EXPECT_EQ(data.at("PADDLE_TRAINERS_NUM"), "2") << "B15: a task named worker trains";
  EXPECT_EQ(data.at("PADDLE_WORKER_ENDPOINTS"), data.at("PADDLE_TRAINER_ENDPOINTS"));
  EXPECT_EQ(data.at("PADDLE_DRIVER_ENDPOINTS"), "10.0.3.1:36000");
  EXPECT_EQ(env_of(manifests(job).at("demo-driver-0"), "TRAINING_ROLE"), "DRIVER");
  job.spec.tasks.erase(job.spec.tasks.begin());
  EXPECT_EQ(mode_of(job.spec), "Collective");
  job.spec.tasks = {{api::Role{.replicas = 1}, "any"}};
  EXPECT_EQ(mode_of(job.spec), "Single");
}

TEST(Tasks, OfACustomJobGetTheHostsOfTheOthersAndNothingElse) {
  auto job = job_with(R"({"mode": "Custom", "tasks": [
      {"name": "actor-a", "replicas": 1}, {"name": "actor-b", "replicas": 2},
      {"name": "learner", "replicas": 1}]})");
  const auto pods = manifests(job);
  EXPECT_EQ(env_of(pods.at("demo-actor-b-1"), "TRAINING_ROLE"), "ACTOR");
  EXPECT_EQ(env_of(pods.at("demo-actor-b-1"), "PADDLE_TRAINER_ID"), "1");
  auto data = data_of(job);
  EXPECT_EQ(data.at("PADDLE_ACTOR_HOST"), "10.0.1.1,10.0.1.2,10.0.1.3");
  EXPECT_EQ(data.at("PADDLE_LEARNER_HOST"), "10.0.1.4");
  EXPECT_FALSE(data.contains("PADDLE_TRAINERS"));
  job.spec.mode = "Single";
  data = data_of(job);
  EXPECT_FALSE(data.contains("PADDLE_ACTOR_HOST"));
  EXPECT_FALSE(data.contains("PADDLE_TRAINER_ENDPOINTS"));
}

TEST(Tasks, StartOneAfterAnotherWithStartInOrder) {
  auto job = job_with(R"({"startInOrder": 1, "tasks": [
      {"name": "none", "replicas": 0}, {"name": "a", "replicas": 1}, {"name": "b", "replicas": 2}]})");
  auto pods = all_of(job, coordinated);
  EXPECT_EQ(released(plan_for(job, published(job, pods))), Names{"demo-a-0"});
  pods[0] = pods_of_task(job, "a", running)[0];
  EXPECT_EQ(released(plan_for(job, published(job, pods))), (Names{"demo-b-0", "demo-b-1"}));
}

TEST(Tasks, StartTogetherExceptThatServersStartFirst) {
  const auto together = job_with(kTwoDevices);
  EXPECT_EQ(released(plan_for(together, published(together, all_of(together, coordinated)))),
            (Names{"demo-gpu-1-0", "demo-xpu-22-0", "demo-xpu-22-1"}));
  // However they are written.
  const auto job = job_with(R"({"mode": "PS", "tasks": [
      {"name": "trainer", "replicas": 1}, {"name": "ps", "replicas": 1}]})");
  auto pods = all_of(job, coordinated);
  EXPECT_EQ(released(plan_for(job, published(job, pods))), Names{"demo-ps-0"});
  pods[1] = pods_of_task(job, "ps", running)[0];
  EXPECT_EQ(released(plan_for(job, published(job, pods))), Names{"demo-trainer-0"});
}

TEST(Tasks, AreCountedByNameAndTheJobEndsWithItsTrainers) {
  auto job = job_with(kServersAndTrainers);
  job.status.phase = "Running";
  auto pods = pods_of_task(job, "ps-1", running);
  for (api::Pod& pod : pods_of_task(job, "ps-2", running)) pods.push_back(pod);
  for (api::Pod& pod : pods_of_task(job, "trainer", running)) pods.push_back(pod);
  const auto status = status_after(job, published(job, pods));
  EXPECT_EQ(status.phase, "Running");
  EXPECT_EQ(status.mode, "PS");
  EXPECT_EQ(status.tasks.at("ps-1").running, 1);
  EXPECT_EQ(status.tasks.at("trainer").running, 2);
  EXPECT_EQ(status.replicas, 2);
  EXPECT_FALSE(status.worker);
  const Json written = api::encode(status);
  EXPECT_EQ(written["tasks"]["trainer"]["running"], 2);
  EXPECT_EQ(written["tasks"]["trainer"]["refs"][1]["name"], "demo-trainer-1");

  pods.resize(2);
  for (api::Pod& pod : pods_of_task(job, "trainer", succeeded)) pods.push_back(pod);
  EXPECT_EQ(status_after(job, published(job, pods)).phase, "Completed");
}

TEST(Tasks, WithOtherReplicasRestartTheJob) {
  auto job = job_with(kTwoDevices);
  job.status.phase = "Running";
  const auto world = published(job, all_of(job, running));
  EXPECT_FALSE(stores_first(plan_for(job, world)));
  job.spec.tasks[1].replicas = 3;
  EXPECT_EQ(plan_for(job, world).status->epoch, 1);
  job.spec.tasks[1].replicas = 2;
  job.spec.mode = "Custom";
  EXPECT_EQ(plan_for(job, world).status->epoch, 1);
}

TEST(Tasks, ThatAreInvalidGetOneSentence) {
  const auto why = [](const std::string& spec) {
    const auto error = spec_error(job_with(spec), {});
    return error ? error->message : "";
  };
  EXPECT_EQ(why(kTwoDevices), "");
  EXPECT_NE(why(R"({"worker": {"replicas": 1}, "tasks": [{"name": "a", "replicas": 1}]})")
                .find("either tasks"),
            std::string::npos);
  EXPECT_EQ(why(R"({"tasks": [{"name": "a", "replicas": 1}, {"name": "a", "replicas": 1}]})"),
            "two tasks are named a");
  EXPECT_NE(why(R"({"mode": "ps", "tasks": [{"name": "a", "replicas": 1}]})").find("mode is ps"),
            std::string::npos);
  for (const char* name : {"", "-a", "A", "a.b"}) {
    const Json spec = {{"tasks", Json::array({Json{{"name", name}, {"replicas", 1}}})}};
    EXPECT_NE(why(spec.dump()).find("a name of"), std::string::npos) << name;
  }
  EXPECT_NE(why(R"({"tasks": [{"name": "a", "replicas": 0}]})").find("replicas greater than 0"),
            std::string::npos);
}

TEST(Tasks, CanBeElasticWhenOnlyOneTrains) {
  auto job = job_with(R"({"elastic": 1, "mode": "Collective", "tasks": [
      {"name": "gpu", "replicas": 2, "requests": 1, "limits": 3}]})");
  const EtcdEndpoints etcd{"http://e:2379"};
  ASSERT_TRUE(is_elastic(job.spec, etcd));
  EXPECT_EQ(elastic_np(job.spec), "1:3");
  EXPECT_EQ(np_to_write(job.spec, std::nullopt), "2");
  job.spec.tasks.push_back({api::Role{.replicas = 1}, "xpu"});
  EXPECT_FALSE(is_elastic(job.spec, etcd));
  EXPECT_NE(why_not_elastic(job.spec, etcd), "");
}

TEST(Tasks, AreNamedToVolcanoByTheirType) {
  const auto job = job_with(kTwoDevices);
  auto world = world_of({});
  world.pod_groups_known = true;
  world.pod_group = PodGroupSummary{.meta = {.key = job.meta.key}, .phase = "Inqueue"};
  for (const Create& a : only<Create>(plan_for(job, world, {.scheduling = kVolcano}))) {
    if (a.key.name != "demo-xpu-22-1") continue;
    EXPECT_EQ((*a.manifest)["metadata"]["annotations"]["volcano.sh/task-spec"], "XPU");
    return;
  }
  FAIL() << "no such pod";
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
