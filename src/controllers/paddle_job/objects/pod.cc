// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/objects/pod.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "controllers/paddle_job/names.h"
#include "controllers/paddle_job/objects/pod_group.h"
#include "controllers/paddle_job/objects/template_hash.h"
#include "controllers/paddle_job/spec/queueing.h"
#include "controllers/placement/data_gate.h"

namespace paddle::controllers::paddle_job {
namespace {

using api::Json;

constexpr const char* kCoordinatorVolume = "paddle-coord";
constexpr const char* kCoordinatorPath = "/paddle-coord";
constexpr const char* kOwnAddress = "PADDLE_OWN_IP";

// Requires only a POSIX shell and `sleep`. With the trap a waiting pod can be deleted at once:
// otherwise the first process of a container ignores SIGTERM. `read` fails without a newline, but
// sets the variable.
constexpr const char* kWaitScript =
    "trap 'exit 143' TERM INT; said=; "
    "until [ \"$said\" = \"$PADDLE_RELEASE_EPOCH/$POD_IP\" ]; do "
    "sleep 0.1 2>/dev/null || sleep 1; "
    "{ read -r said </paddle-coord/release; } 2>/dev/null; "
    "done; exit 0";

Json own_address(const char* name) {
  return {{"name", name}, {"valueFrom", {{"fieldRef", {{"fieldPath", "status.podIP"}}}}}};
}

Json coordinator_volume() {
  const std::string field = std::string("metadata.annotations['") + kReleaseAnnotation + "']";
  return {{"name", kCoordinatorVolume},
          {"downwardAPI",
           {{"items",
             Json::array({Json{{"path", "release"}, {"fieldRef", {{"fieldPath", field}}}}})}}}};
}

void add_coordinator(Json& pod_spec, const Json& training_container, const api::PaddleJob& job,
                     const std::string& image) {
  // Requests equal limits, so that a pod that is Guaranteed without it stays so.
  const Json amounts = {{"cpu", "50m"}, {"memory", "64Mi"}};
  Json coord = {{"name", kCoordinator},
                {"command", Json::array({"/bin/sh", "-c", kWaitScript})},
                {"env", Json::array({Json{{"name", "PADDLE_RELEASE_EPOCH"},
                                          {"value", std::to_string(job.status.epoch)}},
                                     own_address("POD_IP")})},
                {"resources", {{"requests", amounts}, {"limits", amounts}}},
                {"volumeMounts", Json::array({Json{{"name", kCoordinatorVolume},
                                                   {"mountPath", kCoordinatorPath},
                                                   {"readOnly", true}}})}};
  for (const char* key : {"image", "imagePullPolicy", "securityContext"}) {
    if (training_container.contains(key)) coord[key] = training_container[key];
  }
  if (!image.empty()) {
    coord["image"] = image;
    coord["imagePullPolicy"] = "IfNotPresent";
  }
  api::list_in(pod_spec, "initContainers").push_back(std::move(coord));
  api::list_in(pod_spec, "volumes").push_back(coordinator_volume());
}

Json env_entry(const std::string& name, const std::string& value) {
  return {{"name", name}, {"value", value}};
}

// Appended, so that they take precedence over the user's variables of the same name.
void add_env(Json& container, const api::PaddleJob& job, const ReplicaGroup& group, int index,
             const Config& config) {
  Json& entries = api::list_in(container, "env");
  if (uses_services(job.spec)) {
    entries.push_back(env_entry("POD_IP", pod_name(job, group, index)));
  } else {
    entries.push_back(own_address("POD_IP"));
  }
  entries.push_back(env_entry("PADDLE_TRAINER_ID", std::to_string(group.first.trainer + index)));
  entries.push_back(env_entry("TRAINING_ROLE", training_role(job.spec, group)));
  entries.push_back(env_entry("PADDLE_TRAINING_ROLE", old_training_role(job.spec, group)));
  add_launcher_env(entries, job, group, index, config.ipv6);
  if (is_elastic(job.spec, config.etcd)) {
    for (const auto& [name, value] : elastic_env(job, config.etcd)) {
      entries.push_back(env_entry(name, value));
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
  if (auto own = api::look_text(spec, "restartPolicy"); !own.empty()) return own;
  if (!group.restart_policy.empty()) return group.restart_policy;
  const bool in_place =
      is_task(group) || (group.kind == RoleKind::kWorker && uses_services(job.spec));
  return in_place ? "OnFailure" : "Never";
}

// Labels and annotations of a task, as in the heter branch of the Go operator.
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
  for (const char* field : {"creationTimestamp", "generateName"}) meta.erase(field);
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

// schedulingPolicy.priorityClass, for a pod whose template names no class and no priority: it holds
// with every scheduler.
void set_priority_class(Json& pod_spec, const api::PaddleJobSpec& spec) {
  const std::string wanted = spec.scheduling_policy ? spec.scheduling_policy->priority_class : "";
  if (wanted.empty() || !api::look_text(pod_spec, "priorityClassName").empty()) return;
  if (pod_spec.contains("priority")) return;  // the API server would refuse a class beside it
  pod_spec["priorityClassName"] = wanted;
}

Json build(const api::PaddleJob& job, const ReplicaGroup& group, int index,
           const placement::DataSummary& data, const Config& config, bool gated) {
  const bool has_template = group.pod_template && group.pod_template->is_object();
  Json pod = has_template ? *group.pod_template : Json::object();
  set_metadata(pod, job, group, index);
  pod["metadata"]["annotations"][kTemplateHashAnnotation] = TemplateHash(job, group).of_pod(index);
  const std::string name = pod["metadata"]["name"];

  Json& spec = api::object_in(pod, "spec");
  Json& containers = api::list_in(spec, "containers");
  if (containers.empty()) return pod;  // an error of spec/validation.h
  Json& training = containers[placement::training_container(containers)];
  const bool elastic = is_elastic(job.spec, config.etcd);
  if (!elastic) add_coordinator(spec, training, job, config.init_image);
  add_env(training, job, group, index, config);
  spec["restartPolicy"] = restart_policy(job, group, spec, config);
  spec["hostname"] = name;  // in the pod's /etc/hosts, so that POD_IP of a Service job resolves
  spec["subdomain"] = name;
  set_priority_class(spec, job.spec);
  if (uses_services(job.spec)) declare_port(training, port_of(job));
  if (uses_host_network(job.spec)) add_host_network(spec, port_of(job));
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
  const bool volcano = !config.scheduling.empty() && uses_pod_group(job.spec, config.scheduling);
  if (volcano) join_pod_group(pod, job, group);
  if (!api::look_text(pod["metadata"]["labels"], kQueueLabel).empty()) join_queue_group(pod, job);
  return pod;
}

// The kubelet expands $(...).
std::string endpoints_of_first(const api::PaddleJob& job) {
  const std::string port = ":" + std::to_string(port_of(job));
  std::string out = "$(" + std::string(kOwnAddress) + ")" + port;
  for (const ReplicaGroup& group : replica_groups(job.spec)) {
    if (group.kind != RoleKind::kWorker) continue;
    for (int i = group.first.of_kind == 0 ? 1 : 0; i < group.replicas; ++i) {
      out += "," + pod_name(job, group, i) + port;
    }
  }
  return out;
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

void add_launcher_env(Json& env, const api::PaddleJob& job, const ReplicaGroup& group, int index,
                      bool ipv6) {
  const bool rank_0 = group.kind == RoleKind::kWorker && group.first.of_kind + index == 0 &&
                      !has_servers(job.spec) && !has_no_peers(job.spec);
  if (uses_services(job.spec) && !ipv6 && rank_0) {
    env.push_back(own_address(kOwnAddress));
    env.push_back({{"name", "PADDLE_TRAINER_ENDPOINTS"}, {"value", endpoints_of_first(job)}});
  }
  if (uses_host_network(job.spec)) {
    const int first = port_of(job);
    env.push_back(
        {{"name", "PORT_RANGE"},
         {"value", std::to_string(first + 1) + ":" + std::to_string(first + kGlooOffset - 1)}});
  }
}

Json service_for(const api::PaddleJob& job, const ReplicaGroup& group, int index) {
  const std::string name = pod_name(job, group, index);
  const int first = port_of(job);
  Json ports = Json::array();
  for (int i = 0; i < kPortsPerJob; ++i) {
    ports.push_back({{"name", "p-" + std::to_string(i)},
                     {"port", first + i},
                     {"targetPort", first + i},
                     {"protocol", "TCP"}});
  }
  return {{"apiVersion", "v1"},
          {"kind", "Service"},
          {"metadata", api::encode_meta({.key = {job.meta.key.ns, name},
                                         .labels = {{kResNameLabel, name},
                                                    {kResTypeLabel, to_string(group.kind)},
                                                    {kJobNameLabel, job.meta.key.name}},
                                         .owners = {owner_reference(job)}})},
          {"spec",
           {{"clusterIP", "None"},
            {"publishNotReadyAddresses", true},
            {"selector", {{kResNameLabel, name}}},
            {"ports", ports}}}};
}

}  // namespace paddle::controllers::paddle_job
