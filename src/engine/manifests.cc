// SPDX-License-Identifier: Apache-2.0
#include "engine/manifests.h"

#include <nlohmann/json.hpp>

#include "engine/names.h"

namespace paddle::engine {

using api::Json;

Json metadata(const api::SampleSet& set, const std::string& engine, const std::string& ns,
              const std::string& name) {
  api::Meta meta{
      .key = {ns, name},
      .labels = {{cache_label(set, engine), "true"}, {kSetLabel, set.meta.key.name}},
      .annotations = {{"CreatedBy", "paddle-operator"}, {kSetUidAnnotation, set.meta.uid}}};
  // An object in a namespace cannot own a cluster-scoped one.
  if (!ns.empty()) meta.owners = {owner_reference(set)};
  return api::encode_meta(meta);
}

std::map<std::string, std::string> runtime_labels(const api::SampleSet& set,
                                                  const std::string& engine) {
  return {{cache_label(set, engine), "true"}, {"name", runtime_name(set)}};
}

namespace {

Json capacity() { return {{"storage", "10Pi"}}; }

void append(api::Opaque& list, Json element) {
  Json longer = list ? *list : Json::array();
  longer.push_back(std::move(element));
  list = std::move(longer);
}

}  // namespace

Json volume_by(const api::SampleSet& set, const std::string& engine, const Json& csi) {
  return {{"apiVersion", "v1"},
          {"kind", "PersistentVolume"},
          {"metadata", metadata(set, engine, {}, handle_of(set))},
          {"spec",
           {{"accessModes", Json::array({"ReadWriteMany"})},
            {"capacity", capacity()},
            {"claimRef",
             {{"apiVersion", "v1"},
              {"kind", "PersistentVolumeClaim"},
              {"namespace", set.meta.key.ns},
              {"name", claim_name(set)}}},
            {"csi", csi},
            {"persistentVolumeReclaimPolicy", "Retain"},
            {"storageClassName", kStorageClass},
            {"volumeMode", "Filesystem"}}}};
}

Json claim_of(const api::SampleSet& set, const std::string& engine) {
  return {{"apiVersion", "v1"},
          {"kind", "PersistentVolumeClaim"},
          {"metadata", metadata(set, engine, set.meta.key.ns, claim_name(set))},
          {"spec",
           {{"accessModes", Json::array({"ReadWriteMany"})},
            {"resources", {{"requests", capacity()}}},
            {"storageClassName", kStorageClass},
            {"volumeMode", "Filesystem"},
            {"volumeName", handle_of(set)}}}};
}

Json runtimes_like(const api::SampleSet& set, const std::string& engine, const Json& pod_spec) {
  const auto labels = runtime_labels(set, engine);
  Json pod_labels = labels;
  pod_labels[kSetLabel] = set.meta.key.name;
  return {{"apiVersion", "apps/v1"},
          {"kind", "StatefulSet"},
          {"metadata", metadata(set, engine, set.meta.key.ns, runtime_name(set))},
          {"spec",
           {{"replicas", set.spec.effective_partitions()},
            {"serviceName", service_name(set)},
            {"podManagementPolicy", "Parallel"},
            {"selector", {{"matchLabels", labels}}},
            {"template", {{"metadata", {{"labels", pod_labels}}}, {"spec", pod_spec}}}}}};
}

Json runtime_environment(const RuntimeOptions& options) {
  Json all = Json::array(
      {Json{{"name", "POD_IP"}, {"valueFrom", {{"fieldRef", {{"fieldPath", "status.podIP"}}}}}}});
  for (const auto& [name, value] : options.environment) {
    all.push_back({{"name", name}, {"value", value}});
  }
  return all;
}

void Mounts::add(const Json& volume, const std::string& path) { add(volume, path, Json::object()); }

void Mounts::add(const Json& volume, const std::string& path, const Json& how) {
  Json mount = {{"name", volume["name"]}, {"mountPath", path}};
  mount.update(how);
  append(volumes, volume);
  append(mounts, std::move(mount));
}

void Mounts::add_read_only(const Json& volume, const std::string& path) {
  add(volume, path, {{"readOnly", true}});
}

Json runtime_service(const api::SampleSet& set, const std::string& engine) {
  return {{"apiVersion", "v1"},
          {"kind", "Service"},
          {"metadata", metadata(set, engine, set.meta.key.ns, service_name(set))},
          {"spec",
           {{"clusterIP", "None"},
            {"selector", runtime_labels(set, engine)},
            {"ports", Json::array({Json{{"name", "service"}, {"port", 7716}}})}}}};
}

Json runtime_policy(const api::SampleSet& set, const std::string& engine,
                    const RuntimeOptions& options) {
  const auto labels = runtime_labels(set, engine);
  const Json from_operator = {
      {"namespaceSelector",
       {{"matchLabels", {{"kubernetes.io/metadata.name", options.operator_namespace}}}}}};
  const Json from_runtimes = {{"podSelector", {{"matchLabels", labels}}}};
  return {
      {"apiVersion", "networking.k8s.io/v1"},
      {"kind", "NetworkPolicy"},
      {"metadata", metadata(set, engine, set.meta.key.ns, runtime_name(set))},
      {"spec",
       {{"podSelector", {{"matchLabels", labels}}},
        {"policyTypes", Json::array({"Ingress"})},
        {"ingress", Json::array({Json{
                        {"from", Json::array({from_operator, from_runtimes})},
                        {"ports", Json::array({Json{{"port", 7716}, {"protocol", "TCP"}}})}}})}}}};
}

}  // namespace paddle::engine
