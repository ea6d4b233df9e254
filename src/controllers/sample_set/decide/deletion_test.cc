// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/deletion.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/sample_set/testing/model_cluster.h"
#include "engine/names.h"

namespace paddle::controllers::sample_set {
namespace {

using api::Json;

constexpr WallTime kNow{std::chrono::seconds(1'800'000'000)};

TEST(SampleSetDeletion, RemovesOnlyItsOwnNodeLabelsBesideAnOlderNamesake) {
  ModelCluster model(model_set());
  model.world.has_older_namesake = true;
  model.settle();
  const std::string shared = engine::cache_label(model.set, "samplefs");
  model.world.node_labels["theirs"][shared] = "imagenet-runtime-0";
  model.world.node_labels["node-0"][shared] = "imagenet-runtime-0";  // theirs, too
  model.deleted = true;
  const auto labels = only<LabelNode>(model.pass());
  ASSERT_EQ(labels.size(), 1u);
  EXPECT_EQ(labels[0], (LabelNode{"node-0", engine::node_label(model.set), ""}));
}

TEST(SampleSetDeletion, RemovesTheSharedLabelBesideAYoungerNamesake) {
  ModelCluster model(model_set());
  model.settle();
  model.deleted = true;
  EXPECT_EQ(only<LabelNode>(model.pass()).size(), 2u);
  model.settle();
  EXPECT_TRUE(model.world.node_labels.empty());
}

TEST(SampleSetDeletion, DeletesInOrderAndLeavesNothing) {
  ModelCluster model(model_set(2));
  model.settle();
  model.deleted = true;
  const auto first = model.pass();
  ASSERT_EQ(only<DeleteObject>(first).size(), 1u);
  EXPECT_EQ(only<DeleteObject>(first)[0].kind, OwnedKind::kRuntimes);
  model.settle();
  EXPECT_FALSE(model.world.token || model.world.volume || model.world.claim ||
               model.world.service || model.world.runtimes);
  EXPECT_TRUE(model.world.node_labels.empty());
}

TEST(SampleSetDeletion, DeletesAnOrphanBesideAnotherSetOfItsName) {
  ModelCluster model(model_set(2));
  model.settle();
  api::SampleSet orphan = model.set;
  orphan.meta.uid = "9876543210";
  orphan.meta.deleted = model.now;
  const Json volume = {
      {"metadata", engine::metadata(orphan, "samplefs", {}, engine::handle_of(orphan))}};
  World world = model.world;
  world.replaced = true;
  world.volume = VolumeSummary{.meta = *api::decode_meta(volume)};
  world.volume->meta.uid = "left";
  const Plan plan = plan_deletion(orphan, world);
  ASSERT_EQ(actions_of(plan).size(), 1u);
  EXPECT_FALSE(plan.status);
  EXPECT_EQ(only<DeleteObject>(plan)[0].uid, "left");
}

TEST(SampleSetDeletion, DeletesTheVolumeLastBecauseItIsTheRecordOfTheRest) {
  ModelCluster model(model_set(2));
  model.settle();
  model.deleted = true;
  while (model.world.volume) {
    const auto volume = *model.world.volume;
    const auto plan = model.pass();
    if (model.world.volume) continue;
    EXPECT_FALSE(model.world.token || model.world.claim || model.world.service ||
                 model.world.runtimes || !model.world.pods.empty());
    EXPECT_TRUE(model.world.node_labels.empty());
    const auto orphan = orphan_of(volume, kNow);
    EXPECT_EQ(orphan.meta.uid, model.set.meta.uid);
    EXPECT_EQ(orphan.meta.key.name, model.set.meta.key.name);
    EXPECT_EQ(orphan.status.engine, "samplefs");
  }
}

TEST(SampleSetDeletion, NoFinalizerDelaysADeletedSet) {
  ModelCluster model(model_set());
  model.set.meta.finalizers = {engine::finalizer_of(model.set)};  // an older operator added it
  model.settle();
  EXPECT_TRUE(model.set.meta.finalizers.empty());
  model.set.meta.finalizers = {engine::finalizer_of(model.set)};
  model.set.meta.deleted = kNow;
  const Plan plan = model.pass();
  EXPECT_EQ(actions_of(plan), std::vector<Action>{RemoveFinalizer{}});
  EXPECT_FALSE(plan.status);
  EXPECT_TRUE(is_empty(model.pass()));
}

TEST(SampleSetDeletion, KeepsTheVolumeWhileAJobUsesIt) {
  ModelCluster model(model_set());
  model.settle();
  model.world.users = {{"resnet", "job-uid"}};
  // The job becomes an owner, so that the garbage collector keeps them when the set is deleted.
  const auto kept = only<SetOwners>(model.pass());
  ASSERT_EQ(kept.size(), 5u);
  for (const auto& each : kept) {
    ASSERT_EQ(each.owners.size(), 2u);
    EXPECT_EQ(each.owners[0].uid, model.set.meta.uid);
    EXPECT_EQ(each.owners[1].uid, "job-uid");
    EXPECT_FALSE(each.owners[1].block_owner_deletion);
  }
  EXPECT_TRUE(is_empty(model.pass()));

  model.deleted = true;
  const auto waiting = model.pass();
  const auto events = only<EmitEvent>(waiting);
  ASSERT_EQ(actions_of(waiting).size(), 1u);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].reason, "DeletionHeldBack");
  EXPECT_FALSE(waiting.status);
  // The garbage collector removes the deleted owner where another one is left.
  for (auto* meta : {&*model.world.token, &model.world.claim->meta, &*model.world.service,
                     &*model.world.policy, &model.world.runtimes->meta}) {
    std::erase_if(meta->owners, [](const auto& owner) { return owner.controller; });
  }
  EXPECT_EQ(actions_of(model.pass()).size(), 1u);
  model.world.users.clear();
  model.settle();
  EXPECT_FALSE(model.world.volume || model.world.claim || model.world.runtimes);
}

TEST(SampleSetDeletion, AJobThatHasEndedOwnsNothing) {
  ModelCluster model(model_set());
  model.settle();
  model.world.users = {{"a", "uid-a"}, {"b", "uid-b"}};
  model.settle();
  model.world.users = {{"b", "uid-b"}};
  model.world.claim->meta.owners.push_back({.kind = "Backup", .name = "x", .uid = "uid-of-backup"});
  for (const auto& each : only<SetOwners>(model.pass())) {
    const bool theirs = each.kind == OwnedKind::kClaim;
    ASSERT_EQ(each.owners.size(), theirs ? 3u : 2u);
    EXPECT_EQ(each.owners[1].uid, "uid-b");
    EXPECT_EQ(each.owners.back().uid, theirs ? "uid-of-backup" : "uid-b");
  }
}

TEST(SampleSetDeletion, OfManyJobsAFewOwnTheObjectsAndMostBeginAndEndWithoutAWrite) {
  ModelCluster model(model_set());
  model.settle();
  for (int i = 0; i < 500; ++i) {
    model.world.users.push_back({"job-" + std::to_string(i), "uid-" + std::to_string(1000 + i)});
  }
  for (const auto& each : only<SetOwners>(model.pass())) EXPECT_EQ(each.owners.size(), 1u + 8);
  model.world.users.pop_back();
  EXPECT_TRUE(only<SetOwners>(model.pass()).empty());
  model.world.users.push_back({"new", "uid-0"});
  EXPECT_TRUE(only<SetOwners>(model.pass()).empty());
  // Another takes the place of an owner that has ended.
  model.world.users.erase(model.world.users.begin());
  const auto changed = only<SetOwners>(model.pass());
  ASSERT_FALSE(changed.empty());
  EXPECT_EQ(changed.front().owners.size(), 1u + 8);
  EXPECT_EQ(changed.front().owners.back().uid, "uid-1008");
}

TEST(SampleSetDeletion, AForcedDeletionDoesNotWaitForUsers) {
  ModelCluster model(model_set(2, true));
  model.settle();
  model.world.users = {{"resnet", "job-uid"}};
  model.settle();
  model.set.meta.annotations[kForceDelete] = "true";
  model.world.deletion_forced = true;
  const auto plan = model.pass();
  for (const auto& each : only<SetOwners>(plan)) EXPECT_EQ(each.owners.size(), 1u);
  EXPECT_TRUE(is_forced(model.world.volume->meta));  // for when the set is gone
  model.deleted = true;
  model.settle();
  EXPECT_FALSE(model.world.volume || model.world.claim || model.world.runtimes ||
               model.world.credentials || model.world.policy || model.world.preparation);
  EXPECT_EQ(model.violation, "");
}

}  // namespace
}  // namespace paddle::controllers::sample_set
