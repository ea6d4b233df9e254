// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/object_updates.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "base/stable_hash.h"
#include "controllers/sample_set/decide/automatic_jobs.h"
#include "controllers/sample_set/decide/runtime_liveness.h"
#include "controllers/sample_set/decide/volume_preparation.h"
#include "engine/names.h"

namespace paddle::controllers::sample_set {
namespace {

using api::Json;

std::string template_hash(const Json& pod_template) { return stable_hash_hex(pod_template.dump()); }

Json token_secret(const api::SampleSet& set, const std::string& engine) {
  return {{"apiVersion", "v1"},
          {"kind", "Secret"},
          {"type", "Opaque"},
          {"metadata", engine::metadata(set, engine, set.meta.key.ns, engine::runtime_name(set))}};
}

Json credentials_copy(const Json& wanted, const std::string& version) {
  Json object = wanted;
  object["data"] = data_of(wanted);
  object.erase("stringData");
  object["metadata"]["annotations"][kCopiedFrom] = version;
  return object;
}

Json with_spec_hash(const Json& policy) {
  Json out = policy;
  out["metadata"]["annotations"][kSpecHash] = stable_hash_hex(policy["spec"].dump());
  return out;
}

// An RFC 6902 operation. Whatever is at `path` is replaced as a whole.
Json put(const std::string& path, const Json& value) {
  return {{"op", "add"}, {"path", path}, {"value", value}};
}

// The annotation `name`, whether or not the object has any.
Json mark_it(const api::Meta& meta, const std::string& name, const std::string& value) {
  if (meta.annotations.empty()) return put("/metadata/annotations", {{name, value}});
  std::string escaped = name;
  escaped.replace(escaped.find('/'), 1, "~1");
  return put("/metadata/annotations/" + escaped, value);
}

PatchObject patch_of(OwnedKind kind, const api::Meta& meta, const Json& operations) {
  return {kind, meta.key, meta.uid, meta.resource_version, api::Opaque(operations)};
}

// A claim that has lost its volume takes none but one that names it by its uid.
api::Opaque volume_for(const engine::Manifests& wanted, const World& world) {
  if (!wanted.volume || !world.claim || world.claim->meta.deleting()) return wanted.volume;
  Json volume = *wanted.volume;
  volume["spec"]["claimRef"]["uid"] = world.claim->meta.uid;
  return api::Opaque(std::move(volume));
}

std::string version_of(const World& world) { return world.secret ? world.secret->version : ""; }

}  // namespace

Json data_of(const Json& secret) {
  Json data = secret.contains("data") ? secret["data"] : Json::object();
  if (!secret.contains("stringData")) return data;
  for (const auto& [key, value] : secret["stringData"].items()) {
    data[key] = base64_encode(value.get<std::string>());
  }
  return data;
}

std::string kind_name(OwnedKind kind) {
  switch (kind) {
    case OwnedKind::kToken:
    case OwnedKind::kCredentials:
      return "Secret";
    case OwnedKind::kVolume:
      return "PV";
    case OwnedKind::kClaim:
      return "PVC";
    case OwnedKind::kService:
      return "Service";
    case OwnedKind::kPolicy:
      return "NetworkPolicy";
    case OwnedKind::kPreparation:
      return "Pod";
    case OwnedKind::kRuntimes:
      return "StatefulSet";
  }
  return "";
}

Json with_template_hash(const Json& stateful_set) {
  Json out = stateful_set;
  Json& pod_template = out["spec"]["template"];
  const std::string mark = template_hash(pod_template);
  pod_template["metadata"]["annotations"][kTemplateAnnotation] = mark;
  out["metadata"]["annotations"][kTemplateAnnotation] = mark;
  // Pods are replaced by us, one at a time.
  out["spec"]["updateStrategy"] = {{"type", "OnDelete"}};
  return out;
}

std::optional<NameConflict> find_name_conflict(const api::SampleSet& set, const World& world) {
  std::vector<std::pair<OwnedKind, const api::Meta*>> all;
  if (world.token) all.emplace_back(OwnedKind::kToken, &*world.token);
  if (world.credentials) all.emplace_back(OwnedKind::kCredentials, &*world.credentials);
  if (world.volume) all.emplace_back(OwnedKind::kVolume, &world.volume->meta);
  if (world.claim) all.emplace_back(OwnedKind::kClaim, &world.claim->meta);
  if (world.service) all.emplace_back(OwnedKind::kService, &*world.service);
  if (world.policy) all.emplace_back(OwnedKind::kPolicy, &*world.policy);
  if (world.preparation) all.emplace_back(OwnedKind::kPreparation, &world.preparation->meta);
  if (world.runtimes) all.emplace_back(OwnedKind::kRuntimes, &world.runtimes->meta);
  for (const auto& [kind, meta] : all) {
    if (!engine::belongs_to(*meta, set)) return NameConflict{kind_name(kind), meta->key.name};
  }
  return std::nullopt;
}

void create_missing(const api::SampleSet& set, const World& world, const EngineSelection& selection,
                    Plan& plan) {
  const engine::Manifests& wanted = selection.manifests;
  const auto create = [&](OwnedKind kind, bool there, const api::Opaque& object) {
    if (!there && object) plan.actions.emplace_back(CreateObject{kind, object});
  };
  create(OwnedKind::kToken, world.token.has_value(), token_secret(set, selection.engine));
  if (wanted.credentials) {
    create(OwnedKind::kCredentials, world.credentials.has_value(),
           credentials_copy(*wanted.credentials, version_of(world)));
  }
  create(OwnedKind::kVolume, world.volume.has_value(), volume_for(wanted, world));
  create(OwnedKind::kClaim, world.claim.has_value(), wanted.claim);
  create(OwnedKind::kService, world.service.has_value(), wanted.service);
  if (world.supports_policies && wanted.policy) {
    create(OwnedKind::kPolicy, world.policy.has_value(), with_spec_hash(*wanted.policy));
  }
  const auto lacking = missing_driver(set, world, wanted.csi_driver);
  const bool mountable = wanted.csi_driver.empty() || (world.drivers && lacking != "");
  if (!world.runtimes && mountable && is_prepared(world, wanted)) {
    create(OwnedKind::kRuntimes, false, api::Opaque(with_template_hash(*wanted.runtimes)));
  }
}

void free_volume(const api::SampleSet& set, const World& world, Plan& plan) {
  if (!world.volume || !world.claim) return;
  const VolumeSummary& volume = *world.volume;
  const api::Meta& claim = world.claim->meta;
  for (const api::Meta* meta : {&volume.meta, &claim}) {
    if (!engine::belongs_to(*meta, set) || meta->deleting()) return;
  }
  // One that is bound has its volume: what we see of that is behind.
  if (volume.claim_uid.empty() || volume.claim_uid == claim.uid || world.claim->bound) return;
  plan.actions.emplace_back(
      ClearClaimUid{volume.meta.key, volume.meta.uid, volume.meta.resource_version});
}

void update_credentials(const World& world, const EngineSelection& selection, Plan& plan) {
  if (!selection.manifests.credentials || !world.credentials || !world.secret) return;
  if (!world.secret->exists || world.credentials->deleting()) return;
  if (annotation(*world.credentials, kCopiedFrom) == world.secret->version) return;
  plan.actions.emplace_back(UpdateCredentials{world.credentials->key,
                                              world.credentials->uid,
                                              data_of(*selection.manifests.credentials),
                                              {{kCopiedFrom, world.secret->version}}});
}

void renew_token(const api::SampleSet& set, const World& world, WallTime now, Plan& plan) {
  if (!world.token || !engine::belongs_to(*world.token, set) || world.token->deleting()) return;
  const auto when = parse_rfc3339(annotation(*world.token, kRenewAfter));
  if (when && now < *when) return;
  plan.actions.emplace_back(RenewToken{world.token->key, world.token->uid});
}

void update_policy(const api::SampleSet& set, const World& world,
                   const engine::Manifests& manifests, Plan& plan) {
  if (!world.policy || !manifests.policy || !engine::belongs_to(*world.policy, set)) return;
  if (world.policy->deleting()) return;
  const Json wanted = with_spec_hash(*manifests.policy);
  const std::string mark = wanted["metadata"]["annotations"][kSpecHash];
  if (annotation(*world.policy, kSpecHash) == mark) return;
  plan.actions.emplace_back(patch_of(
      OwnedKind::kPolicy, *world.policy,
      Json::array({put("/spec", wanted["spec"]), mark_it(*world.policy, kSpecHash, mark)})));
}

void update_runtimes(const api::SampleSet& set, const World& world,
                     const engine::Manifests& manifests, Plan& plan) {
  if (!world.runtimes || world.runtimes->meta.deleting()) return;
  const Json wanted = with_template_hash(*manifests.runtimes);
  const std::string mark = wanted["metadata"]["annotations"][kTemplateAnnotation];
  const api::Meta& there = world.runtimes->meta;
  const bool scales = world.runtimes->replicas != set.spec.effective_partitions();
  const bool changes = annotation(there, kTemplateAnnotation) != mark;
  // Each by itself: a template that is refused does not keep the number from being followed.
  if (scales) {
    plan.actions.emplace_back(
        patch_of(OwnedKind::kRuntimes, there,
                 Json::array({put("/spec/replicas", set.spec.effective_partitions())})));
  }
  if (changes) {
    plan.actions.emplace_back(
        patch_of(OwnedKind::kRuntimes, there,
                 Json::array({put("/spec/template", wanted["spec"]["template"]),
                              mark_it(there, kTemplateAnnotation, mark)})));
  }
  if (scales || changes) return;  // its pods are looked at when the change has been seen
  const auto pods = runtime_pods(set, world);
  const auto is_old = [&](const api::Pod* pod) {
    return pod && annotation(pod->meta, kTemplateAnnotation) != mark;
  };
  const auto replace = [&](const api::Pod* pod) {
    plan.actions.emplace_back(ReplaceRuntime{pod->meta.key, pod->meta.uid});
  };
  if (!synced(set.status)) {
    for (const api::Pod* pod : pods) {
      if (is_old(pod)) replace(pod);
    }
    return;
  }
  const auto without_node = std::ranges::count_if(
      pods, [](const api::Pod* pod) { return pod && !pod->unschedulable.empty(); });
  const bool settled = world.runtimes->ready + without_node >= set.spec.effective_partitions();
  for (const bool serving : {false, true}) {
    for (const api::Pod* pod : pods) {
      if (!is_old(pod) || pod->all_ready() != serving) continue;
      if (serving && !settled) continue;
      return replace(pod);
    }
  }
}

std::set<int> up_to_date_runtimes(const api::SampleSet& set, const World& world,
                                  const engine::Manifests& manifests) {
  std::set<int> found;
  if (!manifests.runtimes) return found;
  const std::string mark = template_hash((*manifests.runtimes)["spec"]["template"]);
  const auto pods = runtime_pods(set, world);
  for (int i = 0; i < static_cast<int>(pods.size()); ++i) {
    const api::Pod* pod = pods[static_cast<size_t>(i)];
    if (pod && annotation(pod->meta, kTemplateAnnotation) == mark) found.insert(i);
  }
  return found;
}

}  // namespace paddle::controllers::sample_set
