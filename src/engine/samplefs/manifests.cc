// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/manifests.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/source_schemes.h"
#include "engine/names.h"
#include "engine/samplefs/volumes.h"
#include "engine/time_limits.h"

namespace paddle::engine::samplefs {
namespace {

using api::Json;

constexpr const char* kEngine = "samplefs";

api::SamplefsClient client_of(const std::string& uri) {
  const api::SourceScheme* scheme = api::scheme_of(uri);
  return scheme ? scheme->samplefs : api::SamplefsClient::kNone;
}

// The only tier of this version: the first directory of the first level.
struct Tier {
  std::string path{};    // empty: the node's default directory
  std::int64_t mib = 0;  // 0: what the disk has
  bool in_memory = false;
};

// A tier in memory without a size has this one.
constexpr std::int64_t kDefaultMemoryMib = 1024;
constexpr std::int64_t kRuntimeMib = 128;

bool is_memory(const api::CacheLevel& level) {
  return level.medium == "MEM" || level.path == "/dev/shm" || level.path.starts_with("/dev/shm/");
}

Result<Tier> tier_of(const api::SampleSet& set) {
  if (!set.spec.cache || set.spec.cache->levels.empty()) return Tier{};
  const auto& levels = set.spec.cache->levels;
  if (levels.size() > 1 || levels[0].path.find(':') != std::string::npos) {
    return Error{Code::kInvalid,
                 "the samplefs engine of this version has one cache directory; give "
                 "spec.cache.levels one level with one path"};
  }
  Tier tier{.path = levels[0].path,
            .mib = levels[0].size_mib.value_or(0),
            .in_memory = is_memory(levels[0])};
  if (tier.in_memory && tier.mib <= 0) tier.mib = kDefaultMemoryMib;
  return tier;
}

const api::SecretReference* source_secret(const api::SampleSet& set) {
  if (set.spec.source && set.spec.source->secret) return &*set.spec.source->secret;
  return set.spec.secret ? &*set.spec.secret : nullptr;
}

// Directories of a runtime's container that a source must not cover or show. Other paths beneath
// /etc, /usr and /var are directories of the machine like any other.
constexpr const char* kSystemDirectories[] = {"/bin",  "/boot", "/etc",  "/lib", "/lib64",
                                              "/root", "/run",  "/sbin", "/usr", "/var"};
constexpr const char* kRuntimeTrees[] = {
    "/cache", "/dev", "/etc/paddle-cache", "/proc", "/run/paddle-cache", "/sys"};

// The directory of a file:// source, without a slash at the end.
Result<std::string> source_directory(const std::string& uri) {
  std::string path = uri.substr(uri.find("://") + 3);
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const std::string inside = path + "/";
  const bool odd = inside.find("//") != inside.npos || inside.find("/./") != inside.npos ||
                   inside.find("/../") != inside.npos;
  if (!path.starts_with('/') || path == "/" || odd) {
    return Error{Code::kInvalid,
                 "spec.source.uri: a file:// source is an absolute path without host, '.' and "
                 "'..', such as file:///data/images"};
  }
  const bool system =
      std::ranges::any_of(kSystemDirectories, [&](const char* each) { return path == each; }) ||
      std::ranges::any_of(kRuntimeTrees,
                          [&](const std::string& each) { return inside.starts_with(each + "/"); });
  if (system) {
    return Error{Code::kInvalid, "spec.source.uri: '" + path.substr(0, 100) +
                                     "' is a directory of the system; samples must be in a "
                                     "directory of their own"};
  }
  return path;
}

Json inline_volume(const std::string& name, const Json& attributes) {
  return {{"name", name}, {"csi", {{"driver", kDriver}, {"volumeAttributes", attributes}}}};
}

Mounts mounts_of(const api::SampleSet& set, const Tier& tier) {
  const std::string handle = handle_of(set);
  Mounts all;
  all.add(inline_volume("cache-0", {{kVolumeAttribute, kCacheVolume},
                                    {kHandleAttribute, handle},
                                    {kPathAttribute, tier.path}}),
          std::string(kCachePath) + "/0");
  all.add(
      inline_volume("session", {{kVolumeAttribute, kSessionVolume}, {kHandleAttribute, handle}}),
      kSessionPath);
  all.add_read_only({{"name", "token"}, {"secret", {{"secretName", runtime_name(set)}}}},
                    kTokenPath);
  if (const auto* secret = source_secret(set)) {
    Json source = {{"secretName", secret->name}};
    if (may_be_missing(*secret)) source["optional"] = true;
    all.add_read_only({{"name", "source-secret"}, {"secret", std::move(source)}},
                      kSourceSecretPath);
  }
  const std::string& uri = set.spec.source->uri;
  if (client_of(uri) == api::SamplefsClient::kDirectory) {
    const auto path = source_directory(uri);
    if (!path) return all;  // refused before
    all.add_read_only({{"name", "source"}, {"hostPath", {{"path", *path}, {"type", "Directory"}}}},
                      *path);
  }
  return all;
}

Json command(const api::SampleSet& set, const Tier& tier, const RuntimeOptions& options) {
  Json argv = Json::array({options.program, "serve", "--engine=samplefs"});
  argv.push_back("--set=" + to_string(set.meta.key));
  argv.push_back("--source=" + set.spec.source->uri);
  if (source_secret(set)) argv.push_back(std::string("--source-secret=") + kSourceSecretPath);
  argv.push_back(std::string("--token-file=") + kTokenPath + "/" + engine::kTokenKey);
  argv.push_back(std::string("--cache=") + kCachePath + "/0");
  argv.push_back("--cache-mib=" + std::to_string(tier.mib));
  argv.push_back(std::string("--session=") + kSessionPath);
  argv.push_back("--listen=$(POD_IP):7716");
  return argv;
}

// One runtime of a set per node.
Json affinity(const api::SampleSet& set) {
  Json all = {
      {"podAntiAffinity",
       {{"requiredDuringSchedulingIgnoredDuringExecution",
         Json::array({Json{{"labelSelector", {{"matchLabels", runtime_labels(set, kEngine)}}},
                           {"topologyKey", "kubernetes.io/hostname"}}})}}}};
  if (set.spec.node_affinity) all["nodeAffinity"] = *set.spec.node_affinity;
  return all;
}

// What is in a tmpfs counts as memory of the pod that writes it.
std::string memory_request(const Tier& tier) {
  return std::to_string(kRuntimeMib + (tier.in_memory ? tier.mib : 0)) + "Mi";
}

Json container_security(const RuntimeOptions& options) {
  Json capabilities = {{"drop", Json::array({"ALL"})}};
  if (options.one_machine) capabilities["add"] = Json::array({"DAC_READ_SEARCH"});
  return {{"allowPrivilegeEscalation", false}, {"capabilities", std::move(capabilities)}};
}

// On one machine the runtime is a program of the machine and reads what root may read: a source may
// be a directory of any user.
Json pod_security(const RuntimeOptions& options) {
  if (options.one_machine) return {{"runAsUser", 0}};
  return {{"fsGroup", 65532},
          {"runAsGroup", 65532},
          {"runAsNonRoot", true},
          {"runAsUser", 65532},
          {"seccompProfile", {{"type", "RuntimeDefault"}}}};
}

Json runtime_container(const api::SampleSet& set, const Tier& tier, const RuntimeOptions& options,
                       Json mounts) {
  return {{"name", "runtime"},
          {"image", options.image},
          {"imagePullPolicy", "IfNotPresent"},
          {"command", command(set, tier, options)},
          {"env", runtime_environment(options)},
          {"ports", Json::array({Json{{"name", "runtime"}, {"containerPort", 7716}}})},
          {"readinessProbe",
           {{"httpGet", {{"path", "/readyz"}, {"port", 7716}}}, {"periodSeconds", 5}}},
          {"resources", {{"requests", {{"cpu", "100m"}, {"memory", memory_request(tier)}}}}},
          {"securityContext", container_security(options)},
          {"volumeMounts", std::move(mounts)}};
}

Json pod_spec(const api::SampleSet& set, const Tier& tier, const RuntimeOptions& options) {
  const Mounts mounts = mounts_of(set, tier);
  Json spec = {{"affinity", affinity(set)},
               {"automountServiceAccountToken", false},
               {"containers", Json::array({runtime_container(set, tier, options, *mounts.mounts)})},
               {"enableServiceLinks", false},
               {"securityContext", pod_security(options)},
               {"terminationGracePeriodSeconds", kTerminationGrace.count()},
               {"volumes", *mounts.volumes}};
  if (set.spec.tolerations) spec["tolerations"] = *set.spec.tolerations;
  return spec;
}

Json driver_of(const api::SampleSet& set) {
  return {{"driver", kDriver},
          {"fsType", kEngine},
          {"readOnly", true},
          {"volumeHandle", handle_of(set)},
          {"volumeAttributes", {{"set", to_string(set.meta.key)}}}};
}

}  // namespace

Result<Manifests> SamplefsManifestBuilder::manifests(const api::SampleSet& set, const Credentials&,
                                                     const RuntimeOptions& options) const {
  if (!set.spec.source || set.spec.source->uri.empty()) {
    return Error{Code::kInvalid,
                 "spec.source.uri is missing; the samplefs engine needs the source of the "
                 "samples"};
  }
  const std::string& uri = set.spec.source->uri;
  if (client_of(uri) == api::SamplefsClient::kNone) {
    return Error{Code::kInvalid, "the samplefs engine of this version reads " +
                                     api::samplefs_schemes() + " sources"};
  }
  if (client_of(uri) == api::SamplefsClient::kDirectory) {
    CHECK_DONE(source_directory(uri));
  }
  TRY(const Tier tier, tier_of(set));
  return Manifests{.volume = volume_by(set, kEngine, driver_of(set)),
                   .claim = claim_of(set, kEngine),
                   .service = runtime_service(set, kEngine),
                   .runtimes = runtimes_like(set, kEngine, pod_spec(set, tier, options)),
                   .csi_driver = kDriver,
                   .without_driver =
                       "samplefs works on one machine so far (paddlectl local); delete the set and "
                       "create it again with a secret that has a metaurl, for the engine juicefs"};
}

}  // namespace paddle::engine::samplefs
