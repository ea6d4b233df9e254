// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/pods.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace paddle::controllers {
namespace {

using api::Json;

constexpr const char* kCoordVolume = "paddle-coord";
constexpr const char* kCoordPath = "/paddle-coord";

// Runs in the job's own image: only a shell, cat and sleep are asked for. The address is compared
// too, so that a pod restarted by a reboot, with a new address, waits for a new release.
constexpr const char* kWaitScript =
    "until [ \"$(cat /paddle-coord/release 2>/dev/null)\" = \"$PADDLE_RELEASE_EPOCH/$POD_IP\" ]; "
    "do sleep 0.1 2>/dev/null || sleep 1; done";

Json env(const char* name, const std::string& value) { return {{"name", name}, {"value", value}}; }

Json pod_ip_env() {
  return {{"name", "POD_IP"}, {"valueFrom", {{"fieldRef", {{"fieldPath", "status.podIP"}}}}}};
}

Json& list_in(Json& object, const char* key) {
  Json& list = object[key];
  if (!list.is_array()) list = Json::array();
  return list;
}

void add_training_env(Json& container, const api::PaddleJob& job, RoleKind kind, int index) {
  Json& entries = list_in(container, "env");
  // Appended, so that ours win over the user's of the same name.
  entries.push_back(pod_ip_env());
  entries.push_back(env("PADDLE_TRAINER_ID", std::to_string(index)));
  entries.push_back(env("TRAINING_ROLE", training_role(kind)));
  entries.push_back(env("PADDLE_TRAINING_ROLE", training_role(kind)));
  list_in(container, "envFrom").push_back({{"configMapRef", {{"name", job.meta.key.name}}}});
}

Json coordinator(const api::PaddleJob& job, const Json& training_container) {
  Json coord = {
      {"name", kCoordinator},
      {"command", {"/bin/sh", "-c", kWaitScript}},
      {"env",
       Json::array({env("PADDLE_RELEASE_EPOCH", std::to_string(job.status.epoch)), pod_ip_env()})},
      {"resources",
       {{"requests", {{"cpu", "10m"}, {"memory", "16Mi"}}},
        {"limits", {{"cpu", "100m"}, {"memory", "64Mi"}}}}},
      {"volumeMounts", Json::array({Json{{"name", kCoordVolume}, {"mountPath", kCoordPath}}})}};
  for (const char* key : {"image", "imagePullPolicy", "securityContext"}) {
    if (training_container.contains(key)) coord[key] = training_container[key];
  }
  return coord;
}

Json coord_volume() {
  return {{"name", kCoordVolume},
          {"downwardAPI",
           {{"items", Json::array({Json{{"path", "release"},
                                        {"fieldRef",
                                         {{"fieldPath", std::string("metadata.annotations['") +
                                                            kReleaseAnnotation + "']"}}}}})}}}};
}

bool gets_samples(const api::SampleSetMount& mount, const Json& container, size_t position) {
  if (mount.containers.empty()) return position == 0;
  return std::ranges::find(mount.containers, container.value("name", "")) != mount.containers.end();
}

void mount_samples(Json& spec, const api::SampleSetMount& mount) {
  // "samples-" keeps it apart from the user's own volumes, dots would not be a legal volume name.
  std::string volume = "samples-" + mount.name;
  std::ranges::replace(volume, '.', '-');
  Json claim = {{"claimName", mount.name}};
  if (mount.read_only) claim["readOnly"] = true;
  list_in(spec, "volumes").push_back({{"name", volume}, {"persistentVolumeClaim", claim}});
  Json& containers = spec["containers"];
  for (size_t i = 0; i < containers.size(); ++i) {
    if (!gets_samples(mount, containers[i], i)) continue;
    Json entry = {
        {"name", volume}, {"mountPath", mount.mount_path}, {"mountPropagation", "HostToContainer"}};
    if (mount.read_only) entry["readOnly"] = true;
    list_in(containers[i], "volumeMounts").push_back(std::move(entry));
  }
}

}  // namespace

api::OwnerReference owner_reference(const api::PaddleJob& job) {
  return {.api_version = api::PaddleJob::kApiVersion,
          .kind = api::PaddleJob::kKind,
          .name = job.meta.key.name,
          .uid = job.meta.uid,
          .controller = true,
          .block_owner_deletion = true};
}

std::string release_value(const api::PaddleJob& job, const std::string& address) {
  return std::to_string(job.status.epoch) + "/" + address;
}

Json pod_for(const api::PaddleJob& job, RoleKind kind, int index) {
  const auto& role = role_of(job.spec, kind);
  Json pod = role && role->pod_template && role->pod_template->is_object() ? *role->pod_template
                                                                           : Json::object();
  pod["apiVersion"] = "v1";
  pod["kind"] = "Pod";

  Json& meta = pod["metadata"];
  if (!meta.is_object()) meta = Json::object();
  meta.erase("creationTimestamp");
  meta.erase("generateName");
  const std::string name = pod_name(job, kind, index);
  meta["name"] = name;
  meta["namespace"] = job.meta.key.ns;
  meta["labels"][kResNameLabel] = name;
  meta["labels"][kResTypeLabel] = to_string(kind);
  meta["labels"][kJobNameLabel] = job.meta.key.name;
  meta["annotations"][kResourceAnnotation] = to_string(kind);
  meta["ownerReferences"] = api::encode_meta({.owners = {owner_reference(job)}})["ownerReferences"];

  Json& spec = pod["spec"];
  Json& containers = list_in(spec, "containers");
  if (containers.empty()) return pod;  // refused by validation; never by a crash here
  const Json coord = coordinator(job, containers[0]);
  add_training_env(containers[0], job, kind, index);
  if (!spec.contains("restartPolicy")) spec["restartPolicy"] = "Never";
  Json& init = list_in(spec, "initContainers");
  init.insert(init.begin(), coord);
  list_in(spec, "volumes").push_back(coord_volume());
  if (job.spec.sample_set && kind == RoleKind::kWorker) mount_samples(spec, *job.spec.sample_set);
  return pod;
}

}  // namespace paddle::controllers
