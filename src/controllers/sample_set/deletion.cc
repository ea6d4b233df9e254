// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/deletion.h"

#include <algorithm>

#include "api/paddle_job.h"
#include "engine/names.h"

namespace paddle::controllers::sample_sets {
namespace {

void remove(const api::SampleSet& set, ChildKind kind, const api::Meta& meta, Plan& plan) {
  if (!engine::belongs_to(meta, set) || meta.deleting()) return;
  plan.actions.emplace_back(DeleteChild{kind, meta.key, meta.uid});
}

bool is_user(const api::OwnerReference& owner) {
  return owner.kind == api::PaddleJob::kKind && owner.api_version == api::PaddleJob::kApiVersion;
}

// Whoever else has put their name there keeps it.
void keep(const api::SampleSet& set, const World& world, ChildKind kind, const api::Meta& meta,
          Plan& plan) {
  if (!engine::belongs_to(meta, set) || meta.deleting()) return;
  auto owners = meta.owners;
  std::erase_if(owners, is_user);
  for (const User& user : world.forced ? std::vector<User>{} : world.users) {
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
Tell hold_back(const api::SampleSet& ghost, const World& world) {
  return {true, "DeletionHeldBack",
          "the volume of " + ghost.meta.key.name + " stays until PaddleJob " +
              world.users.front().name + (world.users.size() > 1 ? " and others end" : " ends") +
              "; delete the job, or kubectl annotate pv " + world.volume->meta.key.name + " " +
              kForceDelete + "=true to end it now"};
}

}  // namespace

void keep_for_users(const api::SampleSet& set, const World& world, Plan& plan) {
  if (world.token) keep(set, world, ChildKind::kToken, *world.token, plan);
  if (world.credentials) keep(set, world, ChildKind::kCredentials, *world.credentials, plan);
  if (world.claim) keep(set, world, ChildKind::kClaim, world.claim->meta, plan);
  if (world.service) keep(set, world, ChildKind::kService, *world.service, plan);
  if (world.policy) keep(set, world, ChildKind::kPolicy, *world.policy, plan);
  if (world.runtimes) keep(set, world, ChildKind::kRuntimes, world.runtimes->meta, plan);
  // The volume outlives the set, and tells its end what the set was told.
  if (!world.volume || !engine::belongs_to(world.volume->meta, set)) return;
  if (is_forced(set.meta) && !is_forced(world.volume->meta)) {
    plan.actions.emplace_back(Annotate{ChildKind::kVolume,
                                       world.volume->meta.key,
                                       world.volume->meta.uid,
                                       {{kForceDelete, "true"}}});
  }
}

bool is_forced(const api::Meta& meta) {
  const auto found = meta.annotations.find(kForceDelete);
  return found != meta.annotations.end() && found->second == "true";
}

api::SampleSet ghost_of(const VolumeSeen& volume, WallTime now) {
  api::SampleSet ghost;
  ghost.meta.key.ns = volume.claim.ns;
  ghost.meta.deleted = now;
  const auto& labels = volume.meta.labels;
  if (const auto name = labels.find(engine::kSetLabel); name != labels.end()) {
    ghost.meta.key.name = name->second;
  }
  const auto& annotations = volume.meta.annotations;
  if (const auto uid = annotations.find(engine::kSetUidAnnotation); uid != annotations.end()) {
    ghost.meta.uid = uid->second;
  }
  ghost.status.engine = engine::engine_of(labels, ghost);
  return ghost;
}

Plan ending(const api::SampleSet& ghost, const World& world) {
  if (!world.users.empty() && !world.forced) {
    Plan held{.requeue_after = std::chrono::seconds(30)};
    if (world.volume) held.actions.emplace_back(hold_back(ghost, world));
    return held;
  }
  Plan plan;
  for (const auto& [node, labels] : world.nodes) {
    if (world.replaced) break;  // they are the other set's, which looks after them
    // The hashed label is ours alone and says whether the shared one, which may be a namesake's by
    // now, is ours: so it goes last.
    const std::string own = engine::node_label(ghost);
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
                        !engine::belongs_to(world.runtimes->meta, ghost);
    return pod.meta.key.name.starts_with(engine::runtime_name(ghost) + "-") && !others;
  });
  if (world.runtimes && engine::belongs_to(world.runtimes->meta, ghost)) {
    remove(ghost, ChildKind::kRuntimes, world.runtimes->meta, plan);
    return plan;
  }
  if (world.preparation) remove(ghost, ChildKind::kPreparation, world.preparation->meta, plan);
  if (pods_left) {
    plan.requeue_after = std::chrono::seconds(5);
    return plan;
  }
  if (world.service) remove(ghost, ChildKind::kService, *world.service, plan);
  if (world.token) remove(ghost, ChildKind::kToken, *world.token, plan);
  if (world.credentials) remove(ghost, ChildKind::kCredentials, *world.credentials, plan);
  if (world.policy) remove(ghost, ChildKind::kPolicy, *world.policy, plan);
  if (world.claim && engine::belongs_to(world.claim->meta, ghost)) {
    remove(ghost, ChildKind::kClaim, world.claim->meta, plan);
    return plan;
  }
  if (world.volume) remove(ghost, ChildKind::kVolume, world.volume->meta, plan);
  return plan;
}

}  // namespace paddle::controllers::sample_sets
