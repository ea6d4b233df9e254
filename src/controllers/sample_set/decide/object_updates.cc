// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/object_updates.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "controllers/sample_set/decide/automatic_jobs.h"
#include "controllers/sample_set/decide/reasons.h"
#include "controllers/sample_set/decide/runtime_liveness.h"
#include "controllers/sample_set/decide/volume_preparation.h"
#include "controllers/sample_set/objects/owned_objects.h"
#include "engine/names.h"

namespace paddle::controllers::sample_set {
namespace {

using api::Json;

PatchObject patch_of(OwnedKind kind, const api::Meta& meta, const Json& operations) {
  return {kind, meta.key, meta.uid, meta.resource_version, api::Opaque(operations)};
}

constexpr const char* kDriverPrefix = "juicefs";  // of annotations that the driver reads

std::string secret_version(const World& world) { return world.secret ? world.secret->version : ""; }

void update_copy(OwnedKind kind, const std::optional<CopySummary>& copy, const api::Opaque& wanted,
                 const std::string& version, Plan& plan) {
  if (!wanted || !copy || copy->meta.deleting()) return;
  const Json data = secret_data(*wanted);
  const bool current = annotation(copy->meta, kCopiedFrom) == version;
  if (current && (!copy->values || has_data(*copy->values, data))) return;
  plan.add(UpdateCredentials{
      kind, copy->meta.key, copy->meta.uid, api::Opaque(data), {{kCopiedFrom, version}}});
}

// At most one pod of a previous template: first those that do not serve.
void replace_next(const api::SampleSet& set, const World& world, const std::string& hash,
                  Plan& plan) {
  const auto pods = runtime_pods(set, world);
  const auto is_old = [&](const api::Pod* pod) {
    return pod && annotation(pod->meta, kTemplateHash) != hash;
  };
  const auto replace = [&](const api::Pod* pod) {
    plan.add(ReplaceRuntime{pod->meta.key, pod->meta.uid});
  };
  if (!is_synced(set.status)) {
    for (const api::Pod* pod : pods) {
      if (is_old(pod)) replace(pod);
    }
    return;
  }
  const auto unschedulable = std::ranges::count_if(
      pods, [](const api::Pod* pod) { return pod && !pod->unschedulable.empty(); });
  const bool settled = world.runtimes->ready + unschedulable >= set.spec.effective_partitions();
  for (const bool serving : {false, true}) {
    for (const api::Pod* pod : pods) {
      if (!is_old(pod) || pod->all_ready() != serving) continue;
      if (serving && !settled) continue;
      return replace(pod);
    }
  }
}

}  // namespace

void create_missing(const api::SampleSet& set, const World& world, const EngineSelection& selection,
                    Plan& plan) {
  const engine::Manifests& wanted = selection.manifests;
  const auto create = [&](OwnedKind kind, const api::Opaque& object) {
    if (!find_owned(world, kind) && object) plan.add(CreateObject{kind, object});
  };
  create(OwnedKind::kToken, token_secret(set, selection.engine));
  if (wanted.credentials) {
    create(OwnedKind::kCredentials, credentials_copy(*wanted.credentials, secret_version(world)));
  }
  create(OwnedKind::kClaim, wanted.claim);
  if (world.claim && !world.claim->meta.deleting()) {
    create(OwnedKind::kVolume, volume_for_claim(wanted.volume, world.claim->meta));
  }
  if (wanted.driver_credentials && world.volume && !world.volume->meta.deleting()) {
    create(OwnedKind::kDriverCredentials,
           api::Opaque(driver_credentials(*wanted.driver_credentials, secret_version(world),
                                          world.volume->meta)));
  }
  create(OwnedKind::kService, wanted.service);
  if (world.supports_policies && wanted.policy) {
    create(OwnedKind::kPolicy, policy_with_hash(*wanted.policy));
  }
  const auto missing = missing_driver(set, world, wanted.csi_driver);
  const bool mountable = wanted.csi_driver.empty() || (world.drivers && missing != "");
  const bool has_secret = !wanted.driver_credentials || world.driver_credentials;
  if (!world.runtimes && mountable && has_secret && is_prepared(world, wanted)) {
    create(OwnedKind::kRuntimes, runtimes_with_hash(*wanted.runtimes));
  }
}

void rebind_volume(const api::SampleSet& set, const World& world, Plan& plan) {
  if (!world.volume || !world.claim) return;
  const VolumeSummary& volume = *world.volume;
  const api::Meta& claim = world.claim->meta;
  for (const api::Meta* meta : {&volume.meta, &claim}) {
    if (!engine::belongs_to(*meta, set) || meta->deleting()) return;
  }
  // A bound claim has its volume: what we know of the volume is out of date.
  if (volume.claim_uid.empty() || world.claim->bound) return;
  if (volume.claim_uid == claim.uid) {
    // Kubernetes binds a claim that is older than its volume when the claim changes, or after 15 s.
    if (annotation(claim, kVolumeUid) == volume.meta.uid) return;
    plan.add(Annotate{OwnedKind::kClaim, claim.key, claim.uid, {{kVolumeUid, volume.meta.uid}}});
    return;
  }
  plan.add(SetClaimUid{volume.meta.key, volume.meta.uid, volume.meta.resource_version, claim.uid});
}

void clean_claim(const api::SampleSet& set, const World& world, Plan& plan) {
  if (!world.claim) return;
  const api::Meta& claim = world.claim->meta;
  if (!engine::belongs_to(claim, set) || claim.deleting()) return;
  std::map<std::string, std::string> removed;
  std::string names;
  for (const auto& [name, value] : claim.annotations) {
    if (!name.starts_with(kDriverPrefix)) continue;
    removed[name] = "";
    names += (names.empty() ? "" : ", ") + name;
  }
  if (removed.empty()) return;
  plan.add(Annotate{OwnedKind::kClaim, claim.key, claim.uid, std::move(removed)});
  plan.add(EmitEvent{true, event_reason::kClaimCleaned,
                     "removed from PVC " + claim.key.name + ": " + names +
                         ", which would control JuiceFS's privileged driver; set "
                         "spec.csi.juiceFSMountOptions, and apply deploy/v1/policies.yaml"});
}

void update_credentials(const World& world, const EngineSelection& selection, Plan& plan) {
  if (!world.secret || !world.secret->exists) return;
  const std::string& version = world.secret->version;
  update_copy(OwnedKind::kCredentials, world.credentials, selection.manifests.credentials, version,
              plan);
  update_copy(OwnedKind::kDriverCredentials, world.driver_credentials,
              selection.manifests.driver_credentials, version, plan);
  // Its volume was created again: the garbage collector would delete it with the previous one.
  if (!world.driver_credentials || !world.volume || world.volume->meta.deleting()) return;
  const api::Meta& copy = world.driver_credentials->meta;
  const std::vector owners{volume_owner(world.volume->meta)};
  if (copy.deleting() || copy.owners == owners) return;
  plan.add(SetOwners{OwnedKind::kDriverCredentials, copy.key, copy.uid, owners});
}

void renew_token(const api::SampleSet& set, const World& world, WallTime now, Plan& plan) {
  if (!world.token || !engine::belongs_to(*world.token, set) || world.token->deleting()) return;
  const auto when = parse_rfc3339(annotation(*world.token, kRenewAfter));
  if (!when || now >= *when) {
    plan.add(RenewToken{world.token->key, world.token->uid});
    return;
  }
  const auto forget = parse_rfc3339(annotation(*world.token, kForgetAfter));
  if (!forget) return;
  if (now >= *forget) {
    plan.add(ForgetPreviousToken{world.token->key, world.token->uid});
  } else {
    plan.requeue_within(*forget - now);
  }
}

void update_policy(const api::SampleSet& set, const World& world,
                   const engine::Manifests& manifests, Plan& plan) {
  if (!world.policy || !manifests.policy || !engine::belongs_to(*world.policy, set)) return;
  if (world.policy->deleting()) return;
  const Json wanted = policy_with_hash(*manifests.policy);
  const std::string hash = wanted["metadata"]["annotations"][kSpecHash];
  if (annotation(*world.policy, kSpecHash) == hash) return;
  plan.add(patch_of(OwnedKind::kPolicy, *world.policy,
                    Json::array({put_value("/spec", wanted["spec"]),
                                 put_annotation(*world.policy, kSpecHash, hash)})));
}

void update_runtimes(const api::SampleSet& set, const World& world,
                     const engine::Manifests& manifests, Plan& plan) {
  if (!world.runtimes || world.runtimes->meta.deleting()) return;
  const Json wanted = runtimes_with_hash(*manifests.runtimes);
  const std::string hash = wanted["metadata"]["annotations"][kTemplateHash];
  const api::Meta& meta = world.runtimes->meta;
  const bool scales = world.runtimes->replicas != set.spec.effective_partitions();
  const bool changes = annotation(meta, kTemplateHash) != hash;
  // Two patches: a rejected template does not delay a change of the replicas.
  if (scales) {
    plan.add(patch_of(OwnedKind::kRuntimes, meta,
                      Json::array({put_value("/spec/replicas", set.spec.effective_partitions())})));
  }
  if (changes) {
    plan.add(patch_of(OwnedKind::kRuntimes, meta,
                      Json::array({put_value("/spec/template", wanted["spec"]["template"]),
                                   put_annotation(meta, kTemplateHash, hash)})));
  }
  if (!scales && !changes) replace_next(set, world, hash, plan);
}

std::set<int> up_to_date_runtimes(const api::SampleSet& set, const World& world,
                                  const engine::Manifests& manifests) {
  std::set<int> found;
  if (!manifests.runtimes) return found;
  const std::string hash = template_hash(*manifests.runtimes);
  const auto pods = runtime_pods(set, world);
  for (int i = 0; i < static_cast<int>(pods.size()); ++i) {
    const api::Pod* pod = pods[static_cast<std::size_t>(i)];
    if (pod && annotation(pod->meta, kTemplateHash) == hash) found.insert(i);
  }
  return found;
}

}  // namespace paddle::controllers::sample_set
