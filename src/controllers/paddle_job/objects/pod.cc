// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/objects/pod.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/json/json_list.h"
#include "api/json/look.h"
#include "controllers/paddle_job/objects/coordinator.h"
#include "controllers/paddle_job/objects/launcher.h"
#include "controllers/paddle_job/objects/peer_config_map.h"
#include "controllers/paddle_job/objects/pod_group.h"
#include "controllers/paddle_job/owner.h"
#include "controllers/paddle_job/spec/elastic.h"
#include "controllers/paddle_job/spec/host_ports.h"
#include "controllers/placement/data_gate.h"
#include "controllers/placement/placement.h"

namespace paddle::controllers::paddle_job {
namespace {

using api::Json;

Json env(const std::string& name, const std::string& value) {
  return {{"name", name}, {"value", value}};
}

// Appended, so that ours win over the user's of the same name.
void add_env(Json& container, const api::PaddleJob& job, const ReplicaGroup& group, int index,
             const Config& config) {
  Json& entries = api::list_in(container, "env");
  if (by_service(job.spec)) {
    entries.push_back(env("POD_IP", pod_name(job, group, index)));
  } else {
    entries.push_back(
        {{"name", "POD_IP"}, {"valueFrom", {{"fieldRef", {{"fieldPath", "status.podIP"}}}}}});
  }
  entries.push_back(env("PADDLE_TRAINER_ID", std::to_string(group.first.trainer + index)));
  entries.push_back(env("TRAINING_ROLE", training_role(job.spec, group)));
  entries.push_back(env("PADDLE_TRAINING_ROLE", old_training_role(job.spec, group)));
  add_launcher_env(entries, job, group, index, config.ipv6);
  if (is_elastic(job.spec, config.etcd)) {
    for (const auto& [name, value] : elastic_env(job, config.etcd)) {
      entries.push_back(env(name, value));
    }
    return;
  }
  api::list_in(container, "envFrom").push_back({{"configMapRef", {{"name", job.meta.key.name}}}});
}

void declare_port(Json& container, int port) {
  Json& ports = api::list_in(container, "ports");
  const bool there = std::ranges::any_of(
      ports, [&](const Json& p) { return api::look_integer(p, "containerPort") == port; });
  if (!there) ports.push_back({{"containerPort", port}, {"protocol", "TCP"}});
}

std::string restart_policy(const api::PaddleJob& job, const ReplicaGroup& group, const Json& spec,
                           const Config& config) {
  if (is_elastic(job.spec, config.etcd)) return kElasticRestartPolicy;
  if (const auto own = api::look_text(spec, "restartPolicy"); !own.empty()) return own;
  if (!group.restart_policy.empty()) return group.restart_policy;
  const bool in_place = is_task(group) || (group.kind == RoleKind::kWorker && by_service(job.spec));
  return in_place ? "OnFailure" : "Never";
}

// What the heter branch of the Go operator tells of a task.
void set_task_metadata(Json& meta, const ReplicaGroup& group, int index) {
  meta["labels"][kPodKeyLabel] = meta["name"];
  meta["labels"][kTaskName] = group.name;
  Json& annotations = meta["annotations"];
  annotations[kTaskName] = group.name;
  annotations["paddle-task-type"] = group.type;
  annotations["paddle-task-rank"] = std::to_string(group.position);
  annotations["paddle-pod-rank"] = std::to_string(index);
  annotations["paddle-global-rank"] = std::to_string(group.first.of_job + index);
  annotations["paddle-local-rank"] = std::to_string(group.first.of_type + index);
}

void set_metadata(Json& pod, const api::PaddleJob& job, const ReplicaGroup& group, int index) {
  const std::string name = pod_name(job, group, index);
  pod["apiVersion"] = "v1";
  pod["kind"] = "Pod";
  Json& meta = api::object_in(pod, "metadata");
  for (const char* theirs : {"creationTimestamp", "generateName"}) meta.erase(theirs);
  meta["name"] = name;
  meta["namespace"] = job.meta.key.ns;
  Json& labels = api::object_in(meta, "labels");
  labels[kResNameLabel] = name;
  labels[kResTypeLabel] = to_string(group.kind);
  labels[kJobNameLabel] = job.meta.key.name;
  Json& annotations = api::object_in(meta, "annotations");
  annotations[kResourceAnnotation] = to_string(group.kind);
  annotations[kEpochAnnotation] = std::to_string(job.status.epoch);
  annotations.erase(kReleaseAnnotation);
  annotations.erase(kReleasedAtAnnotation);
  if (is_task(group)) set_task_metadata(meta, group, index);
  meta["ownerReferences"] = api::encode_meta({.owners = {owner_reference(job)}})["ownerReferences"];
}

Json build(const api::PaddleJob& job, const ReplicaGroup& group, int index,
           const placement::DataSummary& data, const Config& config, bool gated) {
  const bool has_template = group.pod_template && group.pod_template->is_object();
  Json pod = has_template ? *group.pod_template : Json::object();
  set_metadata(pod, job, group, index);
  const std::string name = pod["metadata"]["name"];

  Json& spec = api::object_in(pod, "spec");
  Json& containers = api::list_in(spec, "containers");
  if (containers.empty()) return pod;  // refused by validation; never by a crash here
  Json& training = containers[placement::training_container(containers)];
  const bool elastic = is_elastic(job.spec, config.etcd);
  if (!elastic) add_coordinator(spec, training, job, config.init_image);
  add_env(training, job, group, index, config);
  spec["restartPolicy"] = restart_policy(job, group, spec, config);
  spec["hostname"] = name;  // in the pod's /etc/hosts: POD_IP of a Service job resolves by it
  spec["subdomain"] = name;
  if (by_service(job.spec)) declare_port(training, port_of(job));
  if (on_host_network(job.spec)) use_host_network(spec, port_of(job));
  if (job.spec.sample_set) {
    const auto& ref = *job.spec.sample_set;
    if (group.kind == RoleKind::kWorker) {
      const int worker = group.first.of_kind + index;
      placement::mount_samples(spec, ref, data);
      if (!gated) placement::place_worker(spec, ref, data, worker);
      const std::string runtime = gated ? "" : placement::required_runtime(ref, data, worker);
      if (!runtime.empty()) pod["metadata"]["annotations"][placement::kPlacedAnnotation] = runtime;
    }
    if (gated) placement::add_gate(spec);
  }
  if (uses_pod_group(job.spec, config.scheduling)) join_pod_group(pod, job, group);
  return pod;
}

}  // namespace

Json pod_for(const api::PaddleJob& job, const ReplicaGroup& group, int index,
             const placement::DataSummary& data, const Config& config) {
  const bool gated = job.spec.sample_set && job.spec.sample_set->gate;
  return build(job, group, index, data, config, gated);
}

Json placed_spec(const api::PaddleJob& job, const ReplicaGroup& group, int index,
                 const placement::DataSummary& data, const Config& config) {
  return build(job, group, index, data, config, false)["spec"];
}

}  // namespace paddle::controllers::paddle_job
