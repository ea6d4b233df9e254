// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/runtime_pod.h"

#include <nlohmann/json.hpp>

#include "engine/juicefs/credentials.h"
#include "engine/names.h"
#include "engine/time_limits.h"

namespace paddle::engine::juicefs {
namespace {

using api::Json;

constexpr const char* kVolumePath = "/etc/paddle-cache/volume";
constexpr const char* kSourcePath = "/etc/paddle-cache/source";
constexpr const char* kTokenPath = "/etc/paddle-cache/token";
constexpr const char* kStatePath = "/var/lib/paddle-cache";
constexpr int kOwnerOnly = 0400;
constexpr std::int64_t kRuntimeMib = 128;
constexpr std::int64_t kSyncMib = 4096;    // `juicefs sync` of a runtime needs less
constexpr std::int64_t kFormatMib = 1024;  // so does `juicefs format`

std::string data_path(const api::SampleSet& set) { return "/mnt/" + set.meta.key.name; }

// Mounts some keys of the copy as files. Keys that the user does not have are left out.
void add_secret(const std::string& name, const std::string& secret,
                const std::vector<SecretFile>& files, const std::string& path, Mounts& all) {
  Json source = {{"secretName", secret}, {"defaultMode", kOwnerOnly}, {"optional", true}};
  for (const auto& each : files) {
    source["items"].push_back(Json{{"key", each.key}, {"path", each.file}});
  }
  all.add_read_only({{"name", name}, {"secret", std::move(source)}}, path);
}

bool has_source_secret(const api::SampleSet& set) {
  return set.spec.source && set.spec.source->secret && !set.spec.source->secret->name.empty();
}

void add_source_secret(const api::SampleSet& set, Mounts& all) {
  if (!has_source_secret(set)) {
    return add_secret("source-secret", volume_secret_name(set), files_of_source(), kSourcePath,
                      all);
  }
  // The set waits for it before the first sync; later a runtime may restart without it.
  Json source = {{"secretName", set.spec.source->secret->name},
                 {"defaultMode", kOwnerOnly},
                 {"optional", true}};
  all.add_read_only({{"name", "source-secret"}, {"secret", std::move(source)}}, kSourcePath);
}

Mounts runtime_mounts(const api::SampleSet& set) {
  Mounts all;
  all.add({{"name", "data"}, {"persistentVolumeClaim", {{"claimName", claim_name(set)}}}},
          data_path(set), {{"mountPropagation", "HostToContainer"}});
  all.add({{"name", "state"}, {"emptyDir", Json::object()}}, kStatePath);
  all.add_read_only({{"name", "token"},
                     {"secret", {{"secretName", runtime_name(set)}, {"defaultMode", kOwnerOnly}}}},
                    kTokenPath);
  add_secret("volume-secret", volume_secret_name(set), files_of_volume(), kVolumePath, all);
  add_source_secret(set, all);
  return all;
}

Json serve_command(const api::SampleSet& set, const Tiers& tiers, const RuntimeOptions& options) {
  Json argv = Json::array({options.program, "serve", "--engine=juicefs"});
  argv.push_back("--set=" + to_string(set.meta.key));
  if (set.spec.source) argv.push_back("--source=" + set.spec.source->uri);
  argv.push_back("--data=" + data_path(set));
  if (set.spec.csi && set.spec.csi->juicefs &&
      !set.spec.csi->juicefs->sub_dir.value_or("").empty()) {
    argv.push_back("--sub-dir=" + *set.spec.csi->juicefs->sub_dir);
  }
  argv.push_back(std::string("--volume-secret=") + kVolumePath);
  argv.push_back(std::string("--source-secret=") + kSourcePath);
  argv.push_back(std::string("--token-file=") + kTokenPath + "/" + kTokenKey);
  argv.push_back(std::string("--tls=") + kTokenPath);
  argv.push_back(std::string("--cache=") + kStatePath);
  argv.push_back("--cache-mib=" + std::to_string(tiers.mib));
  argv.push_back("--listen=$(POD_IP):7716");
  return argv;
}

Json probe(const std::string& path, int period, int failures) {
  return {{"httpGet", {{"path", path}, {"port", 7716}, {"scheme", "HTTPS"}}},
          {"periodSeconds", period},
          {"timeoutSeconds", 5},
          {"failureThreshold", failures}};
}

std::string memory(std::int64_t mib) { return std::to_string(mib) + "Mi"; }

Json security() {
  return {{"allowPrivilegeEscalation", false}, {"capabilities", {{"drop", Json::array({"ALL"})}}}};
}

Json container(const std::string& name, const RuntimeOptions& options, Json command, Json mounts,
               std::int64_t reserved_mib, std::int64_t more_mib) {
  return {{"name", name},
          {"image", options.image},
          {"imagePullPolicy", "IfNotPresent"},
          {"command", std::move(command)},
          {"resources",
           {{"requests", {{"cpu", "50m"}, {"memory", memory(reserved_mib)}}},
            {"limits", {{"memory", memory(reserved_mib + more_mib)}}}}},
          {"securityContext", security()},
          {"terminationMessagePolicy", "FallbackToLogsOnError"},
          {"volumeMounts", std::move(mounts)}};
}

Json pod_spec(const api::SampleSet& set, Json the_container, Json volumes) {
  Json spec = {
      {"automountServiceAccountToken", false},
      {"containers", Json::array({std::move(the_container)})},
      {"enableServiceLinks", false},
      {"securityContext", {{"runAsUser", 0}, {"seccompProfile", {{"type", "RuntimeDefault"}}}}},
      {"terminationGracePeriodSeconds", kTerminationGrace.count()},
      {"volumes", std::move(volumes)}};
  if (set.spec.node_affinity) spec["affinity"]["nodeAffinity"] = *set.spec.node_affinity;
  if (set.spec.tolerations) spec["tolerations"] = *set.spec.tolerations;
  return spec;
}

}  // namespace

Json runtime_pod_spec(const api::SampleSet& set, const Tiers& tiers,
                      const RuntimeOptions& options) {
  Mounts mounts = runtime_mounts(set);
  // tiers.h: memory that the mount pod will use.
  Json runtime = container("runtime", options, serve_command(set, tiers, options), *mounts.mounts,
                           kRuntimeMib + tiers.memory_mib, kSyncMib);
  runtime["env"] = runtime_environment(options);
  runtime["ports"] = Json::array({Json{{"name", "runtime"}, {"containerPort", 7716}}});
  runtime["readinessProbe"] = probe("/readyz", 2, 3);
  runtime["livenessProbe"] = probe("/healthz", 10, 6);
  Json spec = pod_spec(set, std::move(runtime), *mounts.volumes);
  // One runtime of a set per node.
  spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
      Json::array({Json{{"labelSelector", {{"matchLabels", runtime_labels(set, kEngine)}}},
                        {"topologyKey", "kubernetes.io/hostname"}}});
  return spec;
}

Json preparation_pod_spec(const api::SampleSet& set, const RuntimeOptions& options, bool again) {
  Mounts mounts;
  add_secret("volume-secret", volume_secret_name(set), files_of_volume(), kVolumePath, mounts);
  Json command =
      Json::array({options.program, "format", std::string("--volume-secret=") + kVolumePath});
  if (again) command.push_back("--update-keys");
  Json spec = pod_spec(
      set,
      container("format", options, std::move(command), *mounts.mounts, kRuntimeMib, kFormatMib),
      *mounts.volumes);
  spec["restartPolicy"] = "Never";
  return spec;
}

}  // namespace paddle::engine::juicefs
