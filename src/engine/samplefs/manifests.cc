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

// A directory of the cache.
struct Tier {
  std::string path{};    // empty: the node's default directory
  std::int64_t mib = 0;  // 0: what the disk has
  bool in_memory = false;
};
using Tiers = std::vector<Tier>;

// A level in memory without a size has this one.
constexpr std::int64_t kDefaultMemoryMib = 1024;
constexpr std::int64_t kRuntimeMib = 128;
// What it may have besides: downloads and recent blocks (64 MiB each, read_through.h), pages of the
// index and of the disk that the kernel takes back. Above it the pod is killed, not its node.
constexpr std::int64_t kWorkMib = 1024;

bool is_memory(const std::string& medium, const std::string& path) {
  return medium == "MEM" || path == "/dev/shm" || path.starts_with("/dev/shm/");
}

std::vector<std::string> paths_of(const api::CacheLevel& level) {
  std::vector<std::string> paths;
  std::size_t from = 0;
  while (from <= level.path.size()) {
    const std::size_t end = std::min(level.path.find(':', from), level.path.size());
    paths.push_back(level.path.substr(from, end - from));
    from = end + 1;
  }
  return paths;
}

// In the order of the levels, and of the paths of each. The size of a level is that of all its
// paths together.
Result<Tiers> tiers_of(const api::SampleSet& set) {
  if (!set.spec.cache || set.spec.cache->levels.empty()) return Tiers{Tier{}};
  Tiers tiers;
  for (const api::CacheLevel& level : set.spec.cache->levels) {
    const auto paths = paths_of(level);
    const auto share = static_cast<std::int64_t>(paths.size());
    for (const std::string& path : paths) {
      Tier tier{.path = path,
                .mib = level.size_mib.value_or(0) / share,
                .in_memory = is_memory(level.medium, path)};
      if (tier.in_memory && tier.mib <= 0)
        tier.mib = std::max<std::int64_t>(kDefaultMemoryMib / share, 1);
      if (!tier.in_memory && tier.mib == 0 && level.size_mib.value_or(0) > 0) tier.mib = 1;
      const bool known =
          std::ranges::any_of(tiers, [&](const Tier& other) { return other.path == tier.path; });
      if (known) {
        return Error{Code::kInvalid, "spec.cache.levels: '" + path.substr(0, 100) +
                                         "' is there twice; give each directory once"};
      }
      tiers.push_back(std::move(tier));
    }
  }
  const bool unnamed =
      std::ranges::any_of(tiers, [](const Tier& tier) { return tier.path.empty(); });
  if (unnamed && tiers.size() > 1) {
    return Error{Code::kInvalid,
                 "spec.cache.levels: a path is empty; give each of several directories its path"};
  }
  return tiers;
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
    "/cache", "/dev", "/etc/paddle-cache", "/proc", kSessionPath, kKeysPath, "/sys"};

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

bool is_beneath(const std::string& path, std::string root) {
  while (root.ends_with('/')) root.pop_back();
  return path == root || path.starts_with(root + "/");
}

Result<> check_directory(const std::string& uri, const RuntimeOptions& options) {
  TRY(const std::string path, source_directory(uri));
  if (options.one_machine) return Done{};
  if (std::ranges::any_of(options.source_roots,
                          [&](const auto& root) { return is_beneath(path, root); })) {
    return Done{};
  }
  return Error{Code::kInvalid,
               "spec.source.uri: '" + path.substr(0, 100) +
                   "' is a directory of nodes that is not open to sample sets; an administrator "
                   "opens directories with --source-roots of the operator"};
}

Json inline_volume(const std::string& name, const Json& attributes) {
  return {{"name", name}, {"csi", {{"driver", kDriver}, {"volumeAttributes", attributes}}}};
}

std::string cache_directory(std::size_t tier) {
  return std::string(kCachePath) + "/" + std::to_string(tier);
}

Mounts mounts_of(const api::SampleSet& set, const Tiers& tiers) {
  const std::string handle = handle_of(set);
  Mounts all;
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    all.add(inline_volume("cache-" + std::to_string(i), {{kVolumeAttribute, kCacheVolume},
                                                         {kHandleAttribute, handle},
                                                         {kPathAttribute, tiers[i].path}}),
            cache_directory(i));
  }
  all.add(
      inline_volume("session", {{kVolumeAttribute, kSessionVolume}, {kHandleAttribute, handle}}),
      kSessionPath);
  // Keys of jobs' sources, which must be on no disk. It stays when the container starts again.
  all.add({{"name", "keys"}, {"emptyDir", {{"medium", "Memory"}, {"sizeLimit", "16Mi"}}}},
          kKeysPath);
  // The runtime's group reads it (fsGroup), others do not.
  all.add_read_only(
      {{"name", "token"}, {"secret", {{"secretName", runtime_name(set)}, {"defaultMode", 0440}}}},
      kTokenPath);
  if (const auto* secret = source_secret(set)) {
    Json source = {{"secretName", secret->name}, {"defaultMode", 0440}};
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

Json command(const api::SampleSet& set, const Tiers& tiers, const RuntimeOptions& options) {
  Json argv = Json::array({options.program, "serve", "--engine=samplefs"});
  argv.push_back("--set=" + to_string(set.meta.key));
  argv.push_back("--source=" + set.spec.source->uri);
  if (source_secret(set)) argv.push_back(std::string("--source-secret=") + kSourceSecretPath);
  argv.push_back(std::string("--token-file=") + kTokenPath + "/" + engine::kTokenKey);
  if (!options.one_machine) argv.push_back(std::string("--tls=") + kTokenPath);
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    argv.push_back("--cache=" + cache_directory(i));
    argv.push_back("--cache-mib=" + std::to_string(tiers[i].mib));
  }
  // The index outlives a restart of the machine, if any tier does.
  const auto durable = std::ranges::find(tiers, false, &Tier::in_memory);
  if (durable != tiers.begin() && durable != tiers.end()) {
    const auto number = static_cast<std::size_t>(durable - tiers.begin());
    argv.push_back("--state=" + cache_directory(number));
  }
  argv.push_back(std::string("--session=") + kSessionPath);
  argv.push_back(std::string("--keys=") + kKeysPath);
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
Json resources(const Tiers& tiers) {
  std::int64_t mib = kRuntimeMib;
  for (const Tier& tier : tiers) mib += tier.in_memory ? tier.mib : 0;
  return {{"requests", {{"cpu", "100m"}, {"memory", std::to_string(mib) + "Mi"}}},
          {"limits", {{"memory", std::to_string(mib + kWorkMib) + "Mi"}}}};
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

Json probe(const RuntimeOptions& options) {
  Json get = {{"path", "/readyz"}, {"port", 7716}};
  if (!options.one_machine) get["scheme"] = "HTTPS";
  return {{"httpGet", std::move(get)}, {"periodSeconds", 5}};
}

Json runtime_container(const api::SampleSet& set, const Tiers& tiers, const RuntimeOptions& options,
                       Json mounts) {
  return {{"name", "runtime"},
          {"image", options.image},
          {"imagePullPolicy", "IfNotPresent"},
          {"command", command(set, tiers, options)},
          {"env", runtime_environment(options)},
          {"ports", Json::array({Json{{"name", "runtime"}, {"containerPort", 7716}}})},
          {"readinessProbe", probe(options)},
          {"resources", resources(tiers)},
          {"securityContext", container_security(options)},
          {"volumeMounts", std::move(mounts)}};
}

Json pod_spec(const api::SampleSet& set, const Tiers& tiers, const RuntimeOptions& options) {
  const Mounts mounts = mounts_of(set, tiers);
  Json spec = {
      {"affinity", affinity(set)},
      {"automountServiceAccountToken", false},
      {"containers", Json::array({runtime_container(set, tiers, options, *mounts.mounts)})},
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

Result<std::int64_t> SamplefsManifestBuilder::cache_mib(const api::SampleSet& set,
                                                        const RuntimeOptions&) const {
  TRY(const Tiers tiers, tiers_of(set));
  std::int64_t mib = 0;
  for (const Tier& tier : tiers) {
    if (tier.mib == 0) return 0;
    mib += tier.mib;
  }
  return mib;
}

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
    CHECK_DONE(check_directory(uri, options));
  }
  TRY(const Tiers tiers, tiers_of(set));
  return Manifests{.volume = volume_by(set, kEngine, driver_of(set)),
                   .claim = claim_of(set, kEngine),
                   .service = runtime_service(set, kEngine),
                   .runtimes = runtimes_like(set, kEngine, pod_spec(set, tiers, options)),
                   .policy = options.one_machine
                                 ? api::Opaque{}
                                 : api::Opaque(runtime_policy(set, kEngine, options)),
                   .csi_driver = kDriver,
                   .without_driver =
                       "samplefs works on one machine so far (paddlectl local); delete the set and "
                       "create it again with a secret that has a metaurl, for the engine juicefs"};
}

}  // namespace paddle::engine::samplefs
