// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/testing/plan_fixture.h"

#include <algorithm>

#include "api/json/look.h"
#include "controllers/paddle_job/objects/peer_config_map.h"
#include "controllers/paddle_job/objects/template_hash.h"

namespace paddle::controllers::paddle_job {

api::PaddleJob job_with(const std::string& spec, const std::string& name) {
  using api::Json;
  Json object = {{"apiVersion", api::PaddleJob::kApiVersion},
                 {"kind", api::PaddleJob::kKind},
                 {"metadata",
                  {{"name", name},
                   {"namespace", "t"},
                   {"uid", "job-uid"},
                   {"generation", 1},
                   {"creationTimestamp", rfc3339(kNow)}}}};
  object["spec"] = Json::parse(spec);
  const auto complete = [](Json& role) {
    if (role.contains("template")) return;
    role["template"] = {
        {"spec", {{"containers", Json::array({Json{{"name", "c"}, {"image", "i"}}})}}}};
  };
  for (const char* role : {"ps", "worker", "heter"}) {
    if (object["spec"].contains(role)) complete(object["spec"][role]);
  }
  if (object["spec"].contains("tasks")) {
    for (Json& task : object["spec"]["tasks"]) complete(task);
  }
  auto job = api::decode_paddle_job(object);
  EXPECT_TRUE(job) << job.error().message;
  return *std::move(job);
}

api::PaddleJob workers(int count, const char* more) {
  api::Json spec = api::Json::parse(more);
  spec["worker"]["replicas"] = count;
  return job_with(spec.dump());
}

api::PaddleJob ps_job(const char* more) {
  api::Json spec = api::Json::parse(more);
  spec["ps"]["replicas"] = 2;
  spec["worker"]["replicas"] = 2;
  return job_with(spec.dump());
}

api::PaddleJob with_port(api::PaddleJob job, int port) {
  job.status.port = port;
  job.meta.annotations[kHostPortAnnotation] = std::to_string(port);
  return job;
}

std::string ip_of(RoleKind kind, int index) {
  return "10.0." + std::to_string(static_cast<int>(kind)) + "." + std::to_string(index + 1);
}

api::Pod pending(const api::PaddleJob& job, RoleKind kind, int index) {
  api::Pod pod;
  pod.meta.key = {job.meta.key.ns, pod_name(job, kind, index)};
  pod.meta.uid = pod.meta.key.name + "@" + std::to_string(job.status.epoch);
  pod.meta.created = kNow - std::chrono::minutes{1};
  pod.meta.annotations[kEpochAnnotation] = std::to_string(job.status.epoch);
  return pod;
}

api::Pod coordinated(const api::PaddleJob& job, RoleKind kind, int index) {
  api::Pod pod = pending(job, kind, index);
  pod.ip = ip_of(kind, index);
  pod.node = "node-" + std::to_string(index);
  pod.init_containers = {{.name = kCoordinator, .state = api::ContainerStatus::State::kRunning}};
  pod.containers = {{.name = "c", .reason = "PodInitializing"}};
  return pod;
}

api::Pod running(const api::PaddleJob& job, RoleKind kind, int index) {
  api::Pod pod = coordinated(job, kind, index);
  pod.phase = api::PodPhase::kRunning;
  pod.meta.annotations[kReleaseAnnotation] = std::to_string(job.status.epoch) + "/" + pod.ip;
  pod.init_containers = {
      {.name = kCoordinator, .ready = true, .state = api::ContainerStatus::State::kTerminated}};
  pod.containers = {{.name = "c", .ready = true, .state = api::ContainerStatus::State::kRunning}};
  return pod;
}

api::Pod exited(const api::PaddleJob& job, RoleKind kind, int index, int exit_code) {
  api::Pod pod = running(job, kind, index);
  pod.phase = exit_code == 0 ? api::PodPhase::kSucceeded : api::PodPhase::kFailed;
  pod.containers = {{.name = "c",
                     .state = api::ContainerStatus::State::kTerminated,
                     .exit_code = exit_code,
                     .reason = exit_code == 0 ? "Completed" : "Error",
                     .ended = kNow}};
  return pod;
}

api::Pod evicted(const api::PaddleJob& job, RoleKind kind, int index) {
  api::Pod pod = exited(job, kind, index, 137);
  pod.reason = "Evicted";
  pod.disrupted = true;
  return pod;
}

api::Pod crash_looping(const api::PaddleJob& job, RoleKind kind, int index, int restarts) {
  api::Pod pod = running(job, kind, index);
  pod.containers = {{.name = "c",
                     .restarts = restarts,
                     .reason = "CrashLoopBackOff",
                     .last_exit_code = 1,
                     .last_reason = "Error"}};
  return pod;
}

api::Pod with_hash(const api::PaddleJob& job, api::Pod pod) {
  for (const ReplicaGroup& group : replica_groups(job.spec)) {
    for (int i = 0; i < group.replicas; ++i) {
      if (pod.meta.key.name != pod_name(job, group, i)) continue;
      pod.meta.annotations[kTemplateHashAnnotation] = TemplateHash(job, group).of_pod(i);
    }
  }
  return pod;
}

std::vector<api::Pod> with_hashes(const api::PaddleJob& job, std::vector<api::Pod> pods) {
  for (api::Pod& pod : pods) pod = with_hash(job, std::move(pod));
  return pods;
}

World world_of(std::vector<api::Pod> pods) {
  World world;
  for (auto& pod : pods) world.pods.push_back(std::make_shared<const api::Pod>(std::move(pod)));
  return world;
}

World published(const api::PaddleJob& job, std::vector<api::Pod> pods) {
  World world = world_of(std::move(pods));
  const api::Json map =
      peer_config_map(job, peer_data(job, addresses(job, assign_pods(job, world.pods))));
  world.peer_config = PeerConfigMap{.meta = *api::decode_meta(map)};
  world.peer_config->meta.uid = "map-uid";
  world.peer_config->meta.resource_version = "7";
  for (const auto& [key, value] : map["data"].items()) world.peer_config->data[key] = value;
  return world;
}

std::vector<api::Pod> pods_of_task(const api::PaddleJob& job, const std::string& task,
                                   MakePod make) {
  std::vector<api::Pod> pods;
  for (const ReplicaGroup& group : replica_groups(job.spec)) {
    for (int i = 0; group.name == task && i < group.replicas; ++i) {
      pods.push_back(make(job, group.kind, group.first.of_kind + i));
      pods.back().meta.key.name = pod_name(job, group, i);
    }
  }
  return pods;
}

std::vector<api::Pod> all_of(const api::PaddleJob& job, MakePod make) {
  std::vector<api::Pod> pods;
  for (const ReplicaGroup& group : replica_groups(job.spec)) {
    for (api::Pod& pod : pods_of_task(job, group.name, make)) pods.push_back(std::move(pod));
  }
  return pods;
}

PeerData data_of(const api::PaddleJob& job) {
  return peer_data(job, addresses(job, assign_pods(job, world_of(all_of(job, running)).pods)));
}

api::Json manifest_of(const Plan& plan, const std::string& name, OwnedKind kind) {
  for (const Create& a : only<Create>(plan)) {
    if (a.kind == kind && a.key.name == name) return *a.manifest;
  }
  return {};
}

std::vector<std::string> created(const Plan& plan, OwnedKind kind) {
  std::vector<std::string> names;
  for (const Create& a : only<Create>(plan)) {
    if (a.kind == kind) names.push_back(a.key.name);
  }
  return names;
}

std::vector<std::string> deleted(const Plan& plan, OwnedKind kind) {
  std::vector<std::string> names;
  for (const Delete& a : only<Delete>(plan)) {
    if (a.kind == kind) names.push_back(a.key.name);
  }
  return names;
}

std::vector<std::string> released(const Plan& plan) {
  std::vector<std::string> names;
  for (const ReleasePod& a : only<ReleasePod>(plan)) names.push_back(a.key.name);
  return names;
}

std::vector<std::string> stopped(const Plan& plan) {
  std::vector<std::string> names;
  for (const Patch& a : only<Patch>(plan)) {
    if (api::look(*a.body, "/spec/activeDeadlineSeconds") == 1) names.push_back(a.key.name);
  }
  return names;
}

bool stores_first(const Plan& plan) {
  return plan.status && plan.waves.empty() && plan.requeue_after == std::chrono::nanoseconds{0};
}

bool confirms_pods(const Plan& plan) {
  return std::ranges::find(plan.queries, Query{ConfirmPods{}}) != plan.queries.end();
}

std::set<std::string> leases_read(const Plan& plan) {
  std::set<std::string> nodes;
  for (const Query& query : plan.queries) {
    if (const auto* lease = std::get_if<ReadNodeLease>(&query)) nodes.insert(lease->node);
  }
  return nodes;
}

bool reads_etcd(const Plan& plan) {
  return std::ranges::find(plan.queries, Query{ReadElasticReplicas{}}) != plan.queries.end();
}

Plan plan_for(const api::PaddleJob& job, const World& world, const Config& config, WallTime now) {
  return desired(job, world, config, now);
}

api::PaddleJobStatus status_after(const api::PaddleJob& job, const World& world,
                                  const Config& config, WallTime now) {
  return plan_for(job, world, config, now).status.value_or(job.status);
}

std::string reason(const api::PaddleJobStatus& status, const char* type) {
  const auto* found = api::find_condition(status.conditions, type);
  return found ? found->reason : "(none)";
}

}  // namespace paddle::controllers::paddle_job
