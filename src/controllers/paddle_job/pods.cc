// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/pods.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "controllers/paddle_job/coordinator.h"
#include "controllers/paddle_job/elastic.h"
#include "controllers/paddle_job/host_ports.h"
#include "controllers/paddle_job/json_list.h"
#include "controllers/paddle_job/launcher.h"
#include "controllers/paddle_job/owner.h"
#include "controllers/paddle_job/pod_group.h"
#include "controllers/paddle_job/rendezvous.h"
#include "controllers/placement/data_gate.h"
#include "controllers/placement/placement.h"

namespace paddle::controllers {
namespace {

using api::Json;

Json env(const std::string& name, const std::string& value) {
  return {{"name", name}, {"value", value}};
}

// Appended, so that ours win over the user's of the same name.
void add_env(Json& container, const api::PaddleJob& job, const Part& part, int index,
             const Setting& setting) {
  Json& entries = list_in(container, "env");
  if (by_service(job.spec)) {
    entries.push_back(env("POD_IP", pod_name(job, part, index)));
  } else {
    entries.push_back(
        {{"name", "POD_IP"}, {"valueFrom", {{"fieldRef", {{"fieldPath", "status.podIP"}}}}}});
  }
  entries.push_back(env("PADDLE_TRAINER_ID", std::to_string(part.first.trainer + index)));
  entries.push_back(env("TRAINING_ROLE", training_role(job.spec, part)));
  entries.push_back(env("PADDLE_TRAINING_ROLE", old_training_role(job.spec, part)));
  tell_launcher(entries, job, part, index, setting.ipv6);
  if (is_elastic(job.spec, setting.etcd)) {
    for (const auto& [name, value] : elastic_env(job, setting.etcd)) {
      entries.push_back(env(name, value));
    }
    return;
  }
  list_in(container, "envFrom").push_back({{"configMapRef", {{"name", job.meta.key.name}}}});
}

void declare_port(Json& container, int port) {
  Json& ports = list_in(container, "ports");
  const bool there = std::ranges::any_of(
      ports, [&](const Json& p) { return api::look_integer(p, "containerPort") == port; });
  if (!there) ports.push_back({{"containerPort", port}, {"protocol", "TCP"}});
}

std::string restart_policy(const api::PaddleJob& job, const Part& part, const Json& spec,
                           const Setting& setting) {
  if (is_elastic(job.spec, setting.etcd)) return kElasticRestartPolicy;
  if (const auto own = api::look_text(spec, "restartPolicy"); !own.empty()) return own;
  if (!part.restart_policy.empty()) return part.restart_policy;
  const bool in_place = is_task(part) || (part.kind == RoleKind::kWorker && by_service(job.spec));
  return in_place ? "OnFailure" : "Never";
}

// What the heter branch of the Go operator tells of a task.
void name_task(Json& meta, const Part& part, int index) {
  meta["labels"][kPodKeyLabel] = meta["name"];
  meta["labels"][kTaskName] = part.name;
  Json& annotations = meta["annotations"];
  annotations[kTaskName] = part.name;
  annotations["paddle-task-type"] = part.type;
  annotations["paddle-task-rank"] = std::to_string(part.place);
  annotations["paddle-pod-rank"] = std::to_string(index);
  annotations["paddle-global-rank"] = std::to_string(part.first.of_job + index);
  annotations["paddle-local-rank"] = std::to_string(part.first.of_type + index);
}

void name_it(Json& pod, const api::PaddleJob& job, const Part& part, int index) {
  const std::string name = pod_name(job, part, index);
  pod["apiVersion"] = "v1";
  pod["kind"] = "Pod";
  Json& meta = object_in(pod, "metadata");
  for (const char* theirs : {"creationTimestamp", "generateName"}) meta.erase(theirs);
  meta["name"] = name;
  meta["namespace"] = job.meta.key.ns;
  Json& labels = object_in(meta, "labels");
  labels[kResNameLabel] = name;
  labels[kResTypeLabel] = to_string(part.kind);
  labels[kJobNameLabel] = job.meta.key.name;
  Json& annotations = object_in(meta, "annotations");
  annotations[kResourceAnnotation] = to_string(part.kind);
  annotations[kEpochAnnotation] = std::to_string(job.status.epoch);
  annotations.erase(kReleaseAnnotation);
  annotations.erase(kReleasedAtAnnotation);
  if (is_task(part)) name_task(meta, part, index);
  meta["ownerReferences"] = api::encode_meta({.owners = {owner_reference(job)}})["ownerReferences"];
}

Json built(const api::PaddleJob& job, const Part& part, int index, const DataSeen& data,
           const Setting& setting, bool gated) {
  const bool has_template = part.pod_template && part.pod_template->is_object();
  Json pod = has_template ? *part.pod_template : Json::object();
  name_it(pod, job, part, index);
  const std::string name = pod["metadata"]["name"];

  Json& spec = object_in(pod, "spec");
  Json& containers = list_in(spec, "containers");
  if (containers.empty()) return pod;  // refused by validation; never by a crash here
  Json& training = containers[training_container(containers)];
  const bool elastic = is_elastic(job.spec, setting.etcd);
  if (!elastic) add_coordinator(spec, training, job, setting.init_image);
  add_env(training, job, part, index, setting);
  spec["restartPolicy"] = restart_policy(job, part, spec, setting);
  spec["hostname"] = name;  // in the pod's /etc/hosts: POD_IP of a Service job resolves by it
  spec["subdomain"] = name;
  if (by_service(job.spec)) declare_port(training, port_of(job));
  if (on_host_network(job.spec)) use_host_network(spec, port_of(job));
  if (job.spec.sample_set) {
    const auto& ref = *job.spec.sample_set;
    if (part.kind == RoleKind::kWorker) {
      const int worker = part.first.of_kind + index;
      mount_samples(spec, ref, data);
      if (!gated) place_worker(spec, ref, data, worker);
      const std::string place = gated ? "" : must_go_to(ref, data, worker);
      if (!place.empty()) pod["metadata"]["annotations"][kPlacedAnnotation] = place;
    }
    if (gated) add_gate(spec);
  }
  if (uses_pod_group(job.spec, setting.scheduling)) join_pod_group(pod, job, part);
  return pod;
}

}  // namespace

Json pod_for(const api::PaddleJob& job, const Part& part, int index, const DataSeen& data,
             const Setting& setting) {
  const bool gated = job.spec.sample_set && job.spec.sample_set->gate;
  return built(job, part, index, data, setting, gated);
}

Json placed_spec(const api::PaddleJob& job, const Part& part, int index, const DataSeen& data,
                 const Setting& setting) {
  return built(job, part, index, data, setting, false)["spec"];
}

}  // namespace paddle::controllers
