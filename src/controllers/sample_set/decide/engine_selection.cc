// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/engine_selection.h"

#include "base/result.h"
#include "controllers/sample_set/decide/automatic_jobs.h"
#include "controllers/sample_set/decide/cache_limit.h"
#include "controllers/sample_set/decide/reasons.h"
#include "controllers/sample_set/decide/runtime_liveness.h"
#include "controllers/sample_set/objects/owned_objects.h"
#include "engine/names.h"

namespace paddle::controllers::sample_set {
namespace {

const api::SecretReference* source_reference(const api::SampleSet& set) {
  return set.spec.source && set.spec.source->secret ? &*set.spec.source->secret : nullptr;
}

BlockReason secret_not_found(const std::string& secret, const api::SampleSet& set) {
  if (secret.empty()) {
    return {reason::kSecretNotFound,
            "a secretRef has no name; add the name of a secret in namespace " + set.meta.key.ns};
  }
  return {reason::kSecretNotFound,
          "secret " + secret + " not found; create it in namespace " + set.meta.key.ns};
}

// The user's Secret is needed until it has been copied; a runtime that has started has its own.
BlockReason secret_blocks(const api::SampleSet& set, const World& world) {
  const auto* engine_secret = credentials_reference(set);
  const auto* source_secret = source_reference(set);
  for (const auto* ref : {engine_secret, source_secret}) {
    if (!ref || ref->ns.empty() || ref->ns == set.meta.key.ns) continue;
    return {reason::kSecretElsewhere, "secret " + ref->name + " must be in namespace " +
                                          set.meta.key.ns + ", not in " + ref->ns};
  }
  const bool served = is_synced(set.status) && !set.status.engine.empty();
  if (world.secret && !world.secret->exists && !served) {
    return secret_not_found(engine_secret->name, set);
  }
  if (source_secret && world.source_secret_missing && !served) {
    return secret_not_found(source_secret->name, set);
  }
  return {};
}

// samplefs runs only where the node mounts it itself, on one machine: its CSI driver for clusters
// does not exist yet, so no message there offers it.
bool runs_samplefs(const Config& config) { return !config.built_in_drivers.empty(); }

bool runs_juicefs(const Config& config) { return find_builder(config.engines, "juicefs"); }

// A sentence about what of the Secret has no effect where JuiceFS is not there to use it: the same
// manifests work on one machine. Empty when all of it has.
std::string unused_of(const std::optional<SecretSummary>& secret, const std::string& engine,
                      const Config& config) {
  if (!secret || runs_juicefs(config) || engine != "samplefs") return "";
  const bool for_juicefs = secret->values.contains("metaurl") ||
                           secret->values.contains("storage") || secret->values.contains("bucket");
  return for_juicefs ? "on one machine there is no JuiceFS: metaurl, storage and bucket of the "
                       "secret are not used, and samples are cached from spec.source.uri directly"
                     : "";
}

Result<std::string> engine_name(const api::SampleSet& set,
                                const std::optional<SecretSummary>& secret, const Config& config) {
  if (!set.status.engine.empty()) return set.status.engine;
  if (set.spec.csi && !set.spec.csi->driver.empty()) return set.spec.csi->driver;
  if (!secret) return std::string("samplefs");
  if (!secret->exists) {
    return Error{Code::kUnavailable, "the engine depends on a secret that does not exist"};
  }
  if (!runs_juicefs(config)) return std::string("samplefs");
  if (secret->values.contains("metaurl")) return std::string("juicefs");
  if (secret->values.contains("storage") || secret->values.contains("bucket")) {
    return Error{
        Code::kInvalid,
        std::string("the secret has storage or bucket but no metaurl; add metaurl to use the "
                    "engine juicefs") +
            (runs_samplefs(config) ? ", or set spec.csi.driver to samplefs" : "")};
  }
  return std::string("samplefs");
}

std::optional<NameConflict> find_name_conflict(const api::SampleSet& set, const World& world) {
  for (const OwnedKind kind : kOwnedKinds) {
    const api::Meta* meta = find_owned(world, kind);
    if (meta && !engine::belongs_to(*meta, set)) return NameConflict{kind, *meta};
  }
  return std::nullopt;
}

// True for an object that the set of the same name before this one left.
bool is_of_predecessor(const api::SampleSet& set, const api::Meta& meta) {
  const api::OwnerReference* owner = meta.controller();
  return owner && owner->kind == api::SampleSet::kKind && owner->name == set.meta.key.name &&
         owner->uid != set.meta.uid;
}

}  // namespace

EngineSelection select_engine(const api::SampleSet& set, const World& world, const Config& config) {
  if (auto blocked = secret_blocks(set, world); blocked.blocks()) {
    return {.engine = set.status.engine,
            .builder = find_builder(config.engines, set.status.engine),
            .blocked = std::move(blocked)};
  }
  const auto name = engine_name(set, world.secret, config);
  if (!name) return {.blocked = {reason::kEngineUnclear, name.error().message}};
  const auto* builder = find_builder(config.engines, *name);
  if (!builder) {
    return {.blocked = {reason::kEngineUnknown, "engine " + *name +
                                                    " is not supported; set spec.csi.driver to " +
                                                    (!runs_samplefs(config) ? "juicefs"
                                                     : runs_juicefs(config) ? "samplefs or juicefs"
                                                                            : "samplefs")}};
  }
  engine::RuntimeOptions options = config.runtime;
  if (const auto image = config.images.find(*name); image != config.images.end()) {
    options.image = image->second;
  }
  auto manifests =
      builder->manifests(set, world.secret ? world.secret->values : engine::Credentials{}, options);
  if (!manifests) {
    return {.engine = *name,
            .builder = builder,
            .blocked = {reason::kSpecRefused, manifests.error().message}};
  }
  const auto cache = builder->cache_mib(set, options);
  const std::int64_t mib = cache ? *cache : 0;
  EngineSelection selection{.engine = *name,
                            .builder = builder,
                            .manifests = *std::move(manifests),
                            .namespace_cache = namespace_cache(set, world, config, mib),
                            .unused = unused_of(world.secret, *name, config)};
  if (config.built_in_drivers.contains(selection.manifests.csi_driver)) {
    selection.manifests.csi_driver.clear();
  }
  if (const auto conflict = find_name_conflict(set, world)) {
    const std::string kind = kind_name(conflict->kind);
    selection.event = event_reason::already_exists(kind);
    selection.blocked = {
        reason::kNameTaken,
        kind + " " + conflict->meta.key.name +
            (is_of_predecessor(set, conflict->meta)
                 ? " of a deleted SampleSet of the same name still exists; waiting "
                   "for the garbage collector to delete it"
                 : " already exists and does not belong to this SampleSet; delete "
                   "it or rename the SampleSet")};
  } else if (world.rejections.creation) {
    selection.blocked = *world.rejections.creation;
  } else {
    selection.blocked = cache_limit_blocks(set, world, config, mib);
  }
  return selection;
}

const engine::ManifestBuilder* find_builder(const engine::ManifestBuilders& builders,
                                            const std::string& engine) {
  for (const auto& builder : builders) {
    if (builder->name() == engine) return builder.get();
  }
  return nullptr;
}

const api::SecretReference* credentials_reference(const api::SampleSet& set) {
  if (set.spec.secret) return &*set.spec.secret;
  const auto* of_source = source_reference(set);
  return of_source && !may_be_missing(*of_source) ? of_source : nullptr;
}

std::optional<std::string> missing_driver(const api::SampleSet& set, const World& world,
                                          const std::string& driver) {
  if (driver.empty() || !world.drivers) return std::nullopt;
  if (!world.drivers->installed.contains(driver)) return "";
  for (const api::Pod* pod : runtime_pods(set, world)) {
    if (!pod || pod->node.empty() || pod->phase == api::PodPhase::kRunning) continue;
    const auto node = world.drivers->on_node.find(pod->node);
    if (node == world.drivers->on_node.end() || !node->second.contains(driver)) return pod->node;
  }
  return std::nullopt;
}

}  // namespace paddle::controllers::sample_set
