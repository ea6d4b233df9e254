// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/deletion.h"

#include <algorithm>

#include "engine/names.h"

namespace paddle::controllers::sample_sets {
namespace {

void remove(const api::SampleSet& set, ChildKind kind, const api::Meta& meta, Plan& plan) {
  if (!engine::belongs_to(meta, set) || meta.deleting()) return;
  plan.actions.emplace_back(DeleteChild{kind, meta.key, meta.uid});
}

Plan wait_for_users(const api::SampleSet& set, const World& world, WallTime now) {
  std::string names;
  for (const auto& user : world.users) names += (names.empty() ? "" : ", ") + user;
  api::SampleSetStatus status = set.status;
  api::set_condition(status.conditions,
                     {.type = "Ready",
                      .status = "False",
                      .reason = "InUse",
                      .message = "deleted, but still used by PaddleJob " + names +
                                 "; it goes when that has finished or is deleted",
                      .observed_generation = set.meta.generation},
                     now);
  Plan plan{.again_after = std::chrono::seconds(30)};
  if (status != set.status) plan.actions.emplace_back(SetStatus{status});
  return plan;
}

}  // namespace

Plan ending(const api::SampleSet& set, const World& world, WallTime now) {
  const auto& finalizers = set.meta.finalizers;
  if (std::ranges::find(finalizers, engine::finalizer_of(set)) == finalizers.end()) return {};
  if (!world.users.empty()) return wait_for_users(set, world, now);

  Plan plan;
  for (const auto& [node, labels] : world.nodes) {
    for (const auto& [label, value] : labels) {
      // The shared label may be a namesake's by now; the hashed one is ours alone.
      if (label != engine::node_label(set) && world.has_namesake) continue;
      plan.actions.emplace_back(LabelNode{node, label, ""});
    }
  }
  const bool pods_left = std::ranges::any_of(world.pods, [&](const api::Pod& pod) {
    return pod.meta.key.name.starts_with(engine::runtime_name(set) + "-");
  });
  if (world.runtimes && engine::belongs_to(world.runtimes->meta, set)) {
    remove(set, ChildKind::kRuntimes, world.runtimes->meta, plan);
    return plan;
  }
  if (pods_left) {
    plan.again_after = std::chrono::seconds(5);
    return plan;
  }
  if (world.service) remove(set, ChildKind::kService, *world.service, plan);
  if (world.token) remove(set, ChildKind::kToken, *world.token, plan);
  if (world.claim && engine::belongs_to(world.claim->meta, set)) {
    remove(set, ChildKind::kClaim, world.claim->meta, plan);
    return plan;
  }
  if (world.volume && engine::belongs_to(world.volume->meta, set)) {
    remove(set, ChildKind::kVolume, world.volume->meta, plan);
    return plan;
  }
  plan.actions.emplace_back(DropFinalizer{});
  return plan;
}

}  // namespace paddle::controllers::sample_sets
