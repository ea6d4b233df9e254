// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/deletion.h"

#include <algorithm>

#include "api/paddle_job.h"
#include "controllers/sample_set/config.h"
#include "controllers/sample_set/decide/reasons.h"
#include "engine/names.h"

namespace paddle::controllers::sample_set {
namespace {

void delete_owned(const api::SampleSet& set, const World& world, OwnedKind kind, Plan& plan) {
  const api::Meta* meta = find_owned(world, kind);
  if (!meta || !engine::belongs_to(*meta, set) || meta->deleting()) return;
  plan.add(DeleteObject{kind, meta->key, meta->uid});
}

bool is_paddle_job(const api::OwnerReference& owner) {
  return owner.kind == api::PaddleJob::kKind && owner.api_version == api::PaddleJob::kApiVersion;
}

// One job that uses the set keeps an object from the garbage collector. A few do, so that most jobs
// begin and end without a write; as many as 500 would be named in six objects each time.
constexpr std::ptrdiff_t kOwningJobs = 8;

void update_owners(const api::SampleSet& set, const World& world, OwnedKind kind, Plan& plan) {
  const api::Meta* meta = find_owned(world, kind);
  if (!meta || !engine::belongs_to(*meta, set) || meta->deleting()) return;
  const auto users = world.deletion_forced ? std::vector<UserJob>{} : world.users;
  auto owners = meta->owners;
  std::erase_if(owners, [&](const api::OwnerReference& owner) {
    return is_paddle_job(owner) &&
           std::ranges::find(users, owner.uid, &UserJob::uid) == users.end();
  });
  auto jobs = std::ranges::count_if(owners, is_paddle_job);
  for (const UserJob& user : users) {
    if (jobs >= kOwningJobs) break;
    if (std::ranges::find(owners, user.uid, &api::OwnerReference::uid) != owners.end()) continue;
    ++jobs;
    owners.push_back({.api_version = api::PaddleJob::kApiVersion,
                      .kind = api::PaddleJob::kKind,
                      .name = user.name,
                      .uid = user.uid});
  }
  if (owners != meta->owners) {
    plan.add(SetOwners{kind, meta->key, meta->uid, std::move(owners)});
  }
}

// The set is no longer listed: users find its event, and the volume.
EmitEvent deletion_held_back(const api::SampleSet& orphan, const World& world) {
  return {true, event_reason::kDeletionHeldBack,
          "the volume of SampleSet " + orphan.meta.key.name + " is kept until PaddleJob " +
              world.users.front().name + (world.users.size() > 1 ? " and others end" : " ends") +
              "; delete the job, or run kubectl annotate pv " + world.volume->meta.key.name + " " +
              kForceDelete + "=true to delete the volume now"};
}

void remove_labels(const api::SampleSet& orphan, const World& world, Plan& plan) {
  if (world.replaced) return;  // they are labels of the other set, which maintains them
  const std::string own = engine::node_label(orphan);
  for (const auto& [node, labels] : world.node_labels) {
    for (const auto& [label, value] : labels) {
      if (label != own && world.has_older_namesake) continue;
      plan.add(LabelNode{node, label, ""});
    }
  }
}

bool has_runtime_pods(const api::SampleSet& orphan, const World& world) {
  return std::ranges::any_of(world.pods, [&](const api::Pod& pod) {
    const auto* owner = pod.meta.controller();
    const bool of_successor = world.replaced && world.runtimes && owner &&
                              owner->uid == world.runtimes->meta.uid &&
                              !engine::belongs_to(world.runtimes->meta, orphan);
    return pod.meta.key.name.starts_with(engine::runtime_name(orphan) + "-") && !of_successor;
  });
}

}  // namespace

void keep_for_users(const api::SampleSet& set, const World& world, Plan& plan) {
  for (const OwnedKind kind : {OwnedKind::kToken, OwnedKind::kCredentials, OwnedKind::kClaim,
                               OwnedKind::kService, OwnedKind::kPolicy, OwnedKind::kRuntimes}) {
    update_owners(set, world, kind, plan);
  }
  // The volume outlives the set: it keeps the annotation for the deletion.
  if (!world.volume || !engine::belongs_to(world.volume->meta, set)) return;
  if (is_forced(set.meta) && !is_forced(world.volume->meta)) {
    plan.add(Annotate{OwnedKind::kVolume,
                      world.volume->meta.key,
                      world.volume->meta.uid,
                      {{kForceDelete, "true"}}});
  }
}

bool is_forced(const api::Meta& meta) { return annotation(meta, kForceDelete) == "true"; }

api::SampleSet orphan_of(const VolumeSummary& volume, WallTime now) {
  api::SampleSet orphan;
  orphan.meta.key.ns = volume.claim.ns;
  orphan.meta.deleted = now;
  const auto& labels = volume.meta.labels;
  if (const auto name = labels.find(engine::kSetLabel); name != labels.end()) {
    orphan.meta.key.name = name->second;
  }
  orphan.meta.uid = annotation(volume.meta, engine::kSetUidAnnotation);
  orphan.status.engine = engine::engine_of(labels, orphan);
  return orphan;
}

Plan plan_deletion(const api::SampleSet& orphan, const World& world) {
  if (!world.users.empty() && !world.deletion_forced) {
    Plan wait{.requeue_after = kUsersInterval};
    if (world.volume) wait.add(deletion_held_back(orphan, world));
    return wait;
  }
  Plan plan;
  remove_labels(orphan, world, plan);
  if (world.runtimes && engine::belongs_to(world.runtimes->meta, orphan)) {
    delete_owned(orphan, world, OwnedKind::kRuntimes, plan);
    return plan;
  }
  delete_owned(orphan, world, OwnedKind::kPreparation, plan);
  if (has_runtime_pods(orphan, world)) {
    plan.requeue_after = kPodsGoneInterval;
    return plan;
  }
  for (const OwnedKind kind : {OwnedKind::kService, OwnedKind::kToken, OwnedKind::kCredentials,
                               OwnedKind::kDriverCredentials, OwnedKind::kPolicy}) {
    delete_owned(orphan, world, kind, plan);
  }
  if (world.claim && engine::belongs_to(world.claim->meta, orphan)) {
    delete_owned(orphan, world, OwnedKind::kClaim, plan);
    return plan;
  }
  delete_owned(orphan, world, OwnedKind::kVolume, plan);
  return plan;
}

}  // namespace paddle::controllers::sample_set
