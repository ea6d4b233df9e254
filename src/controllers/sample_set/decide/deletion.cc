// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/deletion.h"

#include <algorithm>

#include "api/paddle_job.h"
#include "engine/names.h"

namespace paddle::controllers::sample_set {
namespace {

void remove(const api::SampleSet& set, OwnedKind kind, const api::Meta& meta, Plan& plan) {
  if (!engine::belongs_to(meta, set) || meta.deleting()) return;
  plan.actions.emplace_back(DeleteObject{kind, meta.key, meta.uid});
}

bool is_user(const api::OwnerReference& owner) {
  return owner.kind == api::PaddleJob::kKind && owner.api_version == api::PaddleJob::kApiVersion;
}

// Whoever else has put their name there keeps it.
void keep(const api::SampleSet& set, const World& world, OwnedKind kind, const api::Meta& meta,
          Plan& plan) {
  if (!engine::belongs_to(meta, set) || meta.deleting()) return;
  auto owners = meta.owners;
  std::erase_if(owners, is_user);
  for (const User& user : world.deletion_forced ? std::vector<User>{} : world.users) {
    owners.push_back({.api_version = api::PaddleJob::kApiVersion,
                      .kind = api::PaddleJob::kKind,
                      .name = user.name,
                      .uid = user.uid});
  }
  if (owners != meta.owners) {
    plan.actions.emplace_back(SetOwners{kind, meta.key, meta.uid, std::move(owners)});
  }
}

// The set is gone from the list; its event, and the volume, are where to look.
Tell hold_back(const api::SampleSet& orphan, const World& world) {
  return {true, "DeletionHeldBack",
          "the volume of " + orphan.meta.key.name + " stays until PaddleJob " +
              world.users.front().name + (world.users.size() > 1 ? " and others end" : " ends") +
              "; delete the job, or kubectl annotate pv " + world.volume->meta.key.name + " " +
              kForceDelete + "=true to end it now"};
}

}  // namespace

void keep_for_users(const api::SampleSet& set, const World& world, Plan& plan) {
  if (world.token) keep(set, world, OwnedKind::kToken, *world.token, plan);
  if (world.credentials) keep(set, world, OwnedKind::kCredentials, *world.credentials, plan);
  if (world.claim) keep(set, world, OwnedKind::kClaim, world.claim->meta, plan);
  if (world.service) keep(set, world, OwnedKind::kService, *world.service, plan);
  if (world.policy) keep(set, world, OwnedKind::kPolicy, *world.policy, plan);
  if (world.runtimes) keep(set, world, OwnedKind::kRuntimes, world.runtimes->meta, plan);
  // The volume outlives the set, and tells its end what the set was told.
  if (!world.volume || !engine::belongs_to(world.volume->meta, set)) return;
  if (is_forced(set.meta) && !is_forced(world.volume->meta)) {
    plan.actions.emplace_back(Annotate{OwnedKind::kVolume,
                                       world.volume->meta.key,
                                       world.volume->meta.uid,
                                       {{kForceDelete, "true"}}});
  }
}

bool is_forced(const api::Meta& meta) {
  const auto found = meta.annotations.find(kForceDelete);
  return found != meta.annotations.end() && found->second == "true";
}

api::SampleSet orphan_of(const VolumeSummary& volume, WallTime now) {
  api::SampleSet orphan;
  orphan.meta.key.ns = volume.claim.ns;
  orphan.meta.deleted = now;
  const auto& labels = volume.meta.labels;
  if (const auto name = labels.find(engine::kSetLabel); name != labels.end()) {
    orphan.meta.key.name = name->second;
  }
  const auto& annotations = volume.meta.annotations;
  if (const auto uid = annotations.find(engine::kSetUidAnnotation); uid != annotations.end()) {
    orphan.meta.uid = uid->second;
  }
  orphan.status.engine = engine::engine_of(labels, orphan);
  return orphan;
}

Plan plan_deletion(const api::SampleSet& orphan, const World& world) {
  if (!world.users.empty() && !world.deletion_forced) {
    Plan held{.requeue_after = std::chrono::seconds(30)};
    if (world.volume) held.actions.emplace_back(hold_back(orphan, world));
    return held;
  }
  Plan plan;
  for (const auto& [node, labels] : world.node_labels) {
    if (world.replaced) break;  // they are the other set's, which looks after them
    // The hashed label is ours alone and says whether the shared one, which may be a namesake's by
    // now, is ours: so it goes last.
    const std::string own = engine::node_label(orphan);
    for (const auto& [label, value] : labels) {
      if (label == own || (world.has_namesake && !labels.contains(own))) continue;
      plan.actions.emplace_back(LabelNode{node, label, ""});
    }
    if (labels.contains(own)) plan.actions.emplace_back(LabelNode{node, own, ""});
  }
  const bool pods_left = std::ranges::any_of(world.pods, [&](const api::Pod& pod) {
    const auto* owner = pod.meta.controller();
    const bool others = world.replaced && world.runtimes && owner &&
                        owner->uid == world.runtimes->meta.uid &&
                        !engine::belongs_to(world.runtimes->meta, orphan);
    return pod.meta.key.name.starts_with(engine::runtime_name(orphan) + "-") && !others;
  });
  if (world.runtimes && engine::belongs_to(world.runtimes->meta, orphan)) {
    remove(orphan, OwnedKind::kRuntimes, world.runtimes->meta, plan);
    return plan;
  }
  if (world.preparation) remove(orphan, OwnedKind::kPreparation, world.preparation->meta, plan);
  if (pods_left) {
    plan.requeue_after = std::chrono::seconds(5);
    return plan;
  }
  if (world.service) remove(orphan, OwnedKind::kService, *world.service, plan);
  if (world.token) remove(orphan, OwnedKind::kToken, *world.token, plan);
  if (world.credentials) remove(orphan, OwnedKind::kCredentials, *world.credentials, plan);
  if (world.policy) remove(orphan, OwnedKind::kPolicy, *world.policy, plan);
  if (world.claim && engine::belongs_to(world.claim->meta, orphan)) {
    remove(orphan, OwnedKind::kClaim, world.claim->meta, plan);
    return plan;
  }
  if (world.volume) remove(orphan, OwnedKind::kVolume, world.volume->meta, plan);
  return plan;
}

}  // namespace paddle::controllers::sample_set
