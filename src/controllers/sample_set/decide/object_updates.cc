// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/object_updates.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "controllers/sample_set/decide/automatic_jobs.h"
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

std::string secret_version(const World& world) { return world.secret ? world.secret->version : ""; }

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
  create(OwnedKind::kVolume, volume_for_claim(wanted.volume, world));
  create(OwnedKind::kClaim, wanted.claim);
  create(OwnedKind::kService, wanted.service);
  if (world.supports_policies && wanted.policy) {
    create(OwnedKind::kPolicy, policy_with_hash(*wanted.policy));
  }
  const auto missing = missing_driver(set, world, wanted.csi_driver);
  const bool mountable = wanted.csi_driver.empty() || (world.drivers && missing != "");
  if (!world.runtimes && mountable && is_prepared(world, wanted)) {
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
  if (volume.claim_uid.empty() || volume.claim_uid == claim.uid || world.claim->bound) return;
  plan.add(ClearClaimUid{volume.meta.key, volume.meta.uid, volume.meta.resource_version});
}

void update_credentials(const World& world, const EngineSelection& selection, Plan& plan) {
  if (!selection.manifests.credentials || !world.credentials || !world.secret) return;
  if (!world.secret->exists || world.credentials->deleting()) return;
  if (annotation(*world.credentials, kCopiedFrom) == world.secret->version) return;
  plan.add(UpdateCredentials{world.credentials->key,
                             world.credentials->uid,
                             secret_data(*selection.manifests.credentials),
                             {{kCopiedFrom, world.secret->version}}});
}

void renew_token(const api::SampleSet& set, const World& world, WallTime now, Plan& plan) {
  if (!world.token || !engine::belongs_to(*world.token, set) || world.token->deleting()) return;
  const auto when = parse_rfc3339(annotation(*world.token, kRenewAfter));
  if (when && now < *when) return;
  plan.add(RenewToken{world.token->key, world.token->uid});
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
