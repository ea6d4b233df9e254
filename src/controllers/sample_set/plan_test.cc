// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/plan.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/sample_set/decide/automatic_jobs.h"
#include "controllers/sample_set/decide/deletion.h"
#include "controllers/sample_set/decide/object_updates.h"
#include "controllers/sample_set/decide/status/conditions.h"
#include "controllers/sample_set/observe/watch_mapping.h"
#include "controllers/sample_set/testing/model_cluster.h"
#include "engine/names.h"

namespace paddle::controllers::sample_set {
namespace {

using api::Json;
using runtime::JobState;

constexpr WallTime kNow{std::chrono::seconds(1'800'000'000)};

TEST(SampleSetPlan, MakesEverythingThatIsMissingInOnePass) {
  Model model(model_set());
  const auto plan = model.pass();
  std::vector<OwnedKind> kinds;
  for (const auto& a : only<CreateObject>(plan)) kinds.push_back(a.kind);
  EXPECT_EQ(kinds, (std::vector{OwnedKind::kToken, OwnedKind::kVolume, OwnedKind::kClaim,
                                OwnedKind::kService, OwnedKind::kRuntimes}));
  EXPECT_EQ(model.set.status.engine, "samplefs");
}

TEST(SampleSetPlan, GoesThroughThePhasesOfTheContract) {
  Model model(model_set());
  std::vector<std::string> phases{""};
  for (int i = 0; i < 24; ++i) {
    model.pass();
    if (model.set.status.phase != phases.back()) phases.push_back(model.set.status.phase);
  }
  EXPECT_EQ(phases, (std::vector<std::string>{"", "Mount", "PartialReady", "Ready"}));
  EXPECT_EQ(model.set.status.cache->total_size, "1000 B");
  EXPECT_EQ(model.set.status.cache->cached_size, "1000 B");
  EXPECT_EQ(model.set.status.runtime->runtime_ready, "1/1");
  EXPECT_EQ(model.set.status.index->generation, 1);
  for (const char* type : {"Bound", "RuntimeReady", "Synced", "Warmed", "Ready"}) {
    EXPECT_EQ(model.condition(type).status, "True") << type;
    EXPECT_EQ(model.condition(type).observed_generation, 1) << type;
  }
  EXPECT_EQ(model.condition("Degraded").status, "False");
}

TEST(SampleSetPlan, WhatIsLeftOutIsCountedInStatusAndSaidOnce) {
  Model model(model_set());
  model.settle();
  EXPECT_EQ(api::find_condition(model.set.status.conditions, "SamplesLeftOut"), nullptr);
  model.others_work = false;
  auto& index = *model.world.runtime_reports[0].status->index;
  index.left_out = {.count = 3, .examples = {"'a//b' (an empty part)", "'p' (no regular file)"}};
  const auto told = only<Tell>(model.pass());
  ASSERT_EQ(told.size(), 1u);
  EXPECT_TRUE(told[0].warning);
  EXPECT_EQ(told[0].reason, "SamplesLeftOut");
  EXPECT_EQ(told[0].message.find("3 objects of the source are left out: 'a//b' (an empty part), "
                                 "'p' (no regular file) and 1 more; "),
            0u)
      << told[0].message;
  EXPECT_EQ(model.set.status.index->left_out, 3);
  EXPECT_EQ(model.set.status.index->left_out_examples.size(), 2u);
  EXPECT_EQ(model.condition("SamplesLeftOut").status, "True");
  EXPECT_EQ(model.condition("SamplesLeftOut").message, told[0].message);
  EXPECT_EQ(model.set.status.phase, "Ready") << "the rest is served";
  EXPECT_TRUE(model.pass().actions.empty()) << "once";

  index.left_out.count = 4;
  EXPECT_EQ(only<Tell>(model.pass()).size(), 1u) << "others are concerned";
  model.world.runtime_reports[0].status.reset();  // does not answer for a moment
  model.world.runtime_reports[0].error = "timeout";
  EXPECT_TRUE(only<Tell>(model.pass()).empty());
  EXPECT_EQ(model.set.status.index->left_out, 4);
}

TEST(SampleSetPlan, WhatIsLeftOutNoLongerLeavesTheStatus) {
  Model model(model_set());
  model.settle();
  model.others_work = false;
  auto& index = *model.world.runtime_reports[0].status->index;
  index.left_out = {.count = 1, .examples = {}};
  model.pass();
  EXPECT_EQ(model.condition("SamplesLeftOut").message.find("1 object of the source is left out; "),
            0u);
  index.left_out = {};
  EXPECT_TRUE(only<Tell>(model.pass()).empty());
  EXPECT_EQ(api::find_condition(model.set.status.conditions, "SamplesLeftOut"), nullptr);
  EXPECT_EQ(model.set.status.index->left_out, 0);
}

TEST(SampleSetPlan, SettlesForAnyNumberOfPartitionsAndThenRests) {
  for (const int partitions : {1, 2, 5}) {
    Model model(model_set(partitions));
    const auto plan = model.settle();
    EXPECT_TRUE(plan.actions.empty()) << partitions << ": " << plan.actions.size();
    EXPECT_EQ(model.set.status.phase, "Ready");
    EXPECT_EQ(model.world.node_labels.size(), static_cast<size_t>(partitions));
  }
}

TEST(SampleSetPlan, PartitionsMayChangeAtAnyTime) {
  Model model(model_set(2));
  model.settle();
  for (const int partitions : {5, 1}) {
    model.set.spec.partitions = partitions;
    ++model.set.meta.generation;
    EXPECT_TRUE(model.settle().actions.empty());
    EXPECT_EQ(model.set.status.phase, "Ready");
    EXPECT_EQ(model.world.runtimes->replicas, partitions);
    EXPECT_EQ(model.world.node_labels.size(), static_cast<size_t>(partitions));
    EXPECT_EQ(model.set.status.partitions.size(), static_cast<size_t>(partitions));
  }
}

TEST(SampleSetPlan, ALostRuntimeIsPartialReadyAndNotSyncedAgain) {
  Model model(model_set(2));
  model.settle();
  model.others_work = false;
  model.world.runtime_reports.pop_back();
  model.world.pods.pop_back();
  model.world.runtimes->ready = 1;
  const auto sync = model.set.status.jobs->sync;
  const auto plan = model.pass();
  EXPECT_EQ(model.set.status.phase, "PartialReady");
  EXPECT_EQ(model.set.status.jobs->sync, sync);
  EXPECT_TRUE(only<PutJob>(plan).empty());
  EXPECT_EQ(model.set.status.runtime->runtime_ready, "1/2");
}

TEST(SampleSetPlan, ARuntimeThatLostItsDiskGetsItsJobsAgain) {
  Model model(model_set());
  model.settle();
  model.others_work = false;
  model.world.runtime_reports[0] = {.partition = 0, .status = runtime::StatusReport{}};
  const auto jobs = only<PutJob>(model.pass());
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].id, model.set.status.jobs->sync);
  EXPECT_FALSE(model.set.status.partitions[0].ready);
  EXPECT_TRUE(model.set.status.partitions[0].warmed.empty());
}

TEST(SampleSetPlan, AFailedSyncSaysWhyAndIsTriedAgainLater) {
  Model model(model_set());
  model.sync_error = "no such bucket";
  model.settle(6);
  EXPECT_EQ(model.set.status.phase, "SyncFailed");
  const auto* ready = api::find_condition(model.set.status.conditions, "Ready");
  EXPECT_NE(ready->message.find("no such bucket"), std::string::npos);
  EXPECT_TRUE(model.pass().actions.empty());

  model.sync_error.clear();
  model.now += retry_delay(model.set.status.jobs->sync);
  EXPECT_TRUE(model.settle().actions.empty());
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(attempt_of(model.set.status.jobs->sync), 1);
}

TEST(SampleSetPlan, ASyncThatFailedWithTheKeysOfBeforeIsTriedAgainWhenRuntimesHaveOthers) {
  Model model(model_set());
  model.world.secret_versions = "u/1";
  model.sync_error = "access denied";
  model.settle(8);
  EXPECT_EQ(model.set.status.phase, "SyncFailed");
  for (int tries = 0; tries < 4; ++tries) {  // until it is tried once in a while only
    model.now += retry_delay(model.set.status.jobs->sync);
    model.settle(8);
  }
  const int tried = attempt_of(model.set.status.jobs->sync);
  EXPECT_TRUE(model.pass().actions.empty());

  model.sync_error.clear();
  model.world.secret_versions = "u/2";
  const auto told = only<AnnotatePodSecrets>(model.pass());
  ASSERT_EQ(told.size(), static_cast<size_t>(model.set.spec.effective_partitions()));
  EXPECT_EQ(told[0].value, "u/2 " + rfc3339(model.now));
  EXPECT_TRUE(only<AnnotatePodSecrets>(model.pass()).empty()) << "once is enough";
  EXPECT_EQ(attempt_of(model.set.status.jobs->sync), tried) << "a kubelet needs a moment";
  model.now += std::chrono::seconds{3};
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(attempt_of(model.set.status.jobs->sync), tried + 1);
}

TEST(SampleSetPlan, AChangedSpecRetriesAFailedSyncAtOnce) {
  Model model(model_set());
  model.sync_error = "no such bucket";
  model.settle(6);
  model.sync_error.clear();
  model.set.spec.source->uri = "s3://other/images";
  ++model.set.meta.generation;
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
}

TEST(SampleSetPlan, AnotherTemplateReplacesRuntimesOneAtATime) {
  Model model(model_set(2));
  model.settle();
  model.set.spec.tolerations = api::Opaque(Json::array({{{"key", "gpu"}}}));
  EXPECT_EQ(only<PatchObject>(model.pass()).size(), 1u);
  EXPECT_EQ(only<ReplaceRuntime>(model.pass()).size(), 1u);
  EXPECT_EQ(only<ReplaceRuntime>(model.pass()).size(), 1u);
  EXPECT_TRUE(only<ReplaceRuntime>(model.settle()).empty());
}

// What the StatefulSet had is gone, whatever it was: its template is replaced, not merged.
TEST(SampleSetPlan, ATemplateLosesWhatTheSpecHasLost) {
  Model model(model_set(2));
  model.set.spec.tolerations = api::Opaque(Json::array({{{"key", "gpu"}}}));
  model.set.spec.node_affinity = api::Opaque(Json{{"preferred", Json::array()}});
  model.settle();
  model.set.spec.tolerations = {};
  model.set.spec.node_affinity = {};
  model.world.runtimes->meta.resource_version = "7";
  const auto changes = only<PatchObject>(model.pass());
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].resource_version, "7");
  Json stored = {{"metadata", {{"annotations", {{kTemplateAnnotation, "old"}}}}},
                 {"spec",
                  {{"replicas", 2},
                   {"template",
                    {{"spec",
                      {{"tolerations", Json::array({{{"key", "gpu"}}})},
                       {"affinity", {{"nodeAffinity", {{"preferred", Json::array()}}}}}}}}}}}};
  stored = stored.patch(*changes[0].operations);
  const Json& pod = stored["spec"]["template"]["spec"];
  EXPECT_FALSE(pod.contains("tolerations")) << pod;
  EXPECT_FALSE(pod["affinity"].contains("nodeAffinity")) << pod;
  EXPECT_TRUE(pod.contains("containers"));
  EXPECT_EQ(stored["metadata"]["annotations"][kTemplateAnnotation],
            annotation(model.world.runtimes->meta, kTemplateAnnotation));
}

TEST(SampleSetPlan, NumberAndTemplateOfTheRuntimesAreChangedEachByItself) {
  Model model(model_set(1));
  model.settle();
  model.repartition(2);
  model.set.spec.tolerations = api::Opaque(Json::array({{{"key", "gpu"}}}));
  const auto changes = only<PatchObject>(model.pass());
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ((*changes[0].operations)[0]["path"], "/spec/replicas");
  EXPECT_EQ((*changes[1].operations)[0]["path"], "/spec/template");
  EXPECT_TRUE(only<PatchObject>(model.settle()).empty());
}

TEST(SampleSetPlan, ARuntimeThatNoNodeTakesHoldsUpNoOther) {
  Model model(model_set(3), 3);
  model.settle();
  model.lose_node(model.node_of(2));
  model.settle();
  EXPECT_EQ(model.condition("Degraded").reason, "NoNode");
  for (api::Pod& pod : model.world.pods) {
    if (!pod.node.empty()) {
      pod.containers = {{.ready = true, .state = api::ContainerStatus::State::kRunning}};
    }
  }
  model.set.spec.tolerations = api::Opaque(Json::array({{{"key", "gpu"}}}));
  EXPECT_EQ(only<PatchObject>(model.pass()).size(), 1u);
  std::vector<std::string> order;
  for (int i = 0; i < 6; ++i) {
    const auto replaced = only<ReplaceRuntime>(model.pass());
    ASSERT_LE(replaced.size(), 1u);
    for (const auto& each : replaced) order.push_back(each.key.name);
  }
  EXPECT_EQ(order, (std::vector<std::string>{"imagenet-runtime-2", "imagenet-runtime-0",
                                             "imagenet-runtime-1"}));
}

TEST(SampleSetPlan, OneThatServesIsReplacedWhenNoOtherIsOnItsWay) {
  Model model(model_set(2));
  model.settle();
  model.others_work = false;
  model.world.pods[0].containers = {
      {.ready = true, .state = api::ContainerStatus::State::kRunning}};
  model.world.runtimes->ready = 1;
  model.set.spec.tolerations = api::Opaque(Json::array({{{"key", "gpu"}}}));
  model.pass();
  model.world.pods[1].meta.annotations[kTemplateAnnotation] =
      annotation(model.world.runtimes->meta, kTemplateAnnotation);
  EXPECT_TRUE(only<ReplaceRuntime>(model.pass()).empty());
  model.world.runtimes->ready = 2;
  EXPECT_EQ(only<ReplaceRuntime>(model.pass()).size(), 1u);
}

TEST(SampleSetPlan, TouchesNothingOfAStranger) {
  Model model(model_set());
  model.world.claim = VolumeSummary{.meta = {.key = {"train", "imagenet"}, .uid = "theirs"}};
  const auto plan = model.pass();
  EXPECT_EQ(reason_of(plan), "NameTaken");
  EXPECT_TRUE(only<CreateObject>(plan).empty());
  model.gone = true;
  for (int i = 0; i < 5; ++i) {
    for (const auto& gone : only<DeleteObject>(model.pass())) EXPECT_NE(gone.uid, "theirs");
  }
}

TEST(SampleSetPlan, ANamesakeElsewhereKeepsTheSharedNodeLabelAway) {
  Model model(model_set());
  model.world.has_namesake = true;
  model.settle();
  EXPECT_EQ(
      model.world.node_labels["node-0"],
      (std::map<std::string, std::string>{{engine::node_label(model.set), "imagenet-runtime-0"}}));
}

TEST(SampleSetPlan, ANamesakeThatAppearsLaterTakesTheSharedLabelAway) {
  Model model(model_set(2));
  model.settle();
  const std::string shared = engine::cache_label(model.set, "samplefs");
  const std::string own = engine::node_label(model.set);
  model.world.node_labels["theirs"][shared] = "imagenet-runtime-0";
  model.world.has_namesake = true;
  EXPECT_TRUE(model.settle().actions.empty());
  for (const char* node : {"node-0", "node-1"}) {
    EXPECT_FALSE(model.world.node_labels[node].contains(shared));
    EXPECT_TRUE(model.world.node_labels[node].contains(own));
  }
  EXPECT_TRUE(model.world.node_labels["theirs"].contains(shared));
  model.world.node_labels.erase("theirs");
  model.world.has_namesake = false;
  EXPECT_TRUE(model.settle().actions.empty());
  EXPECT_TRUE(model.world.node_labels["node-0"].contains(shared));
  EXPECT_EQ(model.broken, "");
}

TEST(SampleSetPlan, TheEndOfANamesakeTakesItsOwnLabelsAlong) {
  Model model(model_set());
  model.settle();
  const std::string shared = engine::cache_label(model.set, "samplefs");
  model.world.node_labels["theirs"][shared] = "imagenet-runtime-0";
  model.world.has_namesake = true;
  model.gone = true;
  const auto labels = only<LabelNode>(model.pass());
  ASSERT_EQ(labels.size(), 2u);
  EXPECT_EQ(labels[0], (LabelNode{"node-0", shared, ""}));  // while the other says that it is ours
  EXPECT_EQ(labels[1], (LabelNode{"node-0", engine::node_label(model.set), ""}));
  model.settle();
  EXPECT_EQ(model.world.node_labels.size(), 1u);
  EXPECT_TRUE(model.world.node_labels.contains("theirs"));
}

TEST(SampleSetPlan, SetsThatSyncIntoOnePlaceOfOneVolumeSaySo) {
  Model model(model_set());
  model.world.volume_sharers = {"coco", "places"};
  model.set.status.engine = "juicefs";
  const auto shared = volume_shared_condition(model.set, model.world);
  ASSERT_TRUE(shared);
  EXPECT_EQ(shared->status + " " + shared->reason, "True FilesMix");
  EXPECT_TRUE(
      shared->message.starts_with("the SampleSet coco and 1 more sync into the same volume"))
      << shared->message;
  model.world.volume_sharers.clear();
  EXPECT_FALSE(volume_shared_condition(model.set, model.world));
}

TEST(SampleSetPlan, WhichSetsThoseAre) {
  auto one = model_set();
  auto other = one;
  other.meta.key.name = "coco";
  EXPECT_FALSE(share_volume_path(one, other)) << "without a Secret there is no volume";
  one.spec.secret = other.spec.secret = api::SecretReference{.name = "data-center"};
  EXPECT_FALSE(share_volume_path(one, one));
  EXPECT_TRUE(share_volume_path(one, other));
  other.spec.csi = api::Csi{.juicefs = api::JuiceFSMountOptions{.sub_dir = "/"}};
  EXPECT_TRUE(share_volume_path(one, other));
  other.spec.csi->juicefs->sub_dir = "coco";
  EXPECT_FALSE(share_volume_path(one, other));
  other.spec.csi.reset();
  other.spec.no_sync = true;
  EXPECT_FALSE(share_volume_path(one, other)) << "it only reads what is there";
  other.spec.no_sync = false;
  other.meta.key.ns = "elsewhere";
  EXPECT_FALSE(share_volume_path(one, other)) << "another Secret";
}

TEST(SampleSetPlan, EndsInOrderAndLeavesNothing) {
  Model model(model_set(2));
  model.settle();
  model.gone = true;
  const auto first = model.pass();
  ASSERT_EQ(only<DeleteObject>(first).size(), 1u);
  EXPECT_EQ(only<DeleteObject>(first)[0].kind, OwnedKind::kRuntimes);
  model.settle();
  EXPECT_FALSE(model.world.token || model.world.volume || model.world.claim ||
               model.world.service || model.world.runtimes);
  EXPECT_TRUE(model.world.node_labels.empty());
}

TEST(SampleSetPlan, WhatIsLeftOfASetEndsBesideAnotherOfItsName) {
  Model model(model_set(2));
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
  ASSERT_EQ(plan.actions.size(), 1u);
  EXPECT_EQ(only<DeleteObject>(plan)[0].uid, "left");
}

TEST(SampleSetPlan, TheVolumeGoesLastForItRemembersTheRest) {
  Model model(model_set(2));
  model.settle();
  model.gone = true;
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

TEST(SampleSetPlan, NothingHoldsUpASetThatIsDeleted) {
  Model model(model_set());
  model.set.meta.finalizers = {engine::finalizer_of(model.set)};  // of an older operator
  model.settle();
  EXPECT_TRUE(model.set.meta.finalizers.empty());
  model.set.meta.finalizers = {engine::finalizer_of(model.set)};
  model.set.meta.deleted = kNow;
  EXPECT_EQ(model.pass().actions, std::vector<Action>{RemoveFinalizer{}});
  EXPECT_TRUE(model.pass().actions.empty());
}

TEST(SampleSetPlan, ADeletedSetKeepsItsVolumeWhileAJobUsesIt) {
  Model model(model_set());
  model.settle();
  model.world.users = {{"resnet", "job-uid"}};
  // Owned by the job as well, so that the collector leaves them when the set goes.
  const auto kept = only<SetOwners>(model.pass());
  ASSERT_EQ(kept.size(), 4u);
  for (const auto& each : kept) {
    ASSERT_EQ(each.owners.size(), 2u);
    EXPECT_EQ(each.owners[0].uid, model.set.meta.uid);
    EXPECT_EQ(each.owners[1].uid, "job-uid");
    EXPECT_FALSE(each.owners[1].block_owner_deletion);
  }
  EXPECT_TRUE(model.pass().actions.empty());

  model.gone = true;
  const auto held = model.pass();
  ASSERT_EQ(held.actions.size(), 1u);
  EXPECT_EQ(std::get<Tell>(held.actions[0]).reason, "DeletionHeldBack");
  // What a collector does to those that have another owner left.
  for (auto* meta : {&*model.world.token, &model.world.claim->meta, &*model.world.service,
                     &model.world.runtimes->meta}) {
    std::erase_if(meta->owners, [](const auto& owner) { return owner.controller; });
  }
  EXPECT_EQ(model.pass().actions.size(), 1u);
  model.world.users.clear();
  model.settle();
  EXPECT_FALSE(model.world.volume || model.world.claim || model.world.runtimes);
}

TEST(SampleSetPlan, AJobThatHasEndedKeepsNothing) {
  Model model(model_set());
  model.settle();
  model.world.users = {{"a", "uid-a"}, {"b", "uid-b"}};
  model.settle();
  model.world.users = {{"b", "uid-b"}};
  model.world.claim->meta.owners.push_back({.kind = "Backup", .name = "x", .uid = "somebody's"});
  for (const auto& each : only<SetOwners>(model.pass())) {
    const bool theirs = each.kind == OwnedKind::kClaim;
    EXPECT_EQ(each.owners.size(), theirs ? 3u : 2u);
    EXPECT_EQ(each.owners.back().uid, "uid-b");
  }
}

TEST(SampleSetPlan, AForcedEndDoesNotWaitForUsers) {
  Model model(model_set(2, true));
  model.settle();
  model.world.users = {{"resnet", "job-uid"}};
  model.settle();
  model.set.meta.annotations[kForceDelete] = "true";
  model.world.deletion_forced = true;
  const auto plan = model.pass();
  for (const auto& each : only<SetOwners>(plan)) EXPECT_EQ(each.owners.size(), 1u);
  EXPECT_TRUE(is_forced(model.world.volume->meta));  // it remembers when the set is gone
  model.gone = true;
  model.settle();
  EXPECT_FALSE(model.world.volume || model.world.claim || model.world.runtimes ||
               model.world.credentials || model.world.policy || model.world.preparation);
  EXPECT_EQ(model.broken, "");
}

TEST(SampleSetPlan, WithoutAutomaticWarmUpThereIsNone) {
  Model model(model_set());
  model.set.spec.warmup = api::AutoWarmup{.enabled = false};
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_TRUE(model.set.status.jobs->warmup.empty());
}

TEST(SampleSetPlan, SettlesHoweverManyOfItsThingsVanish) {
  for (unsigned gone = 0; gone < 32; ++gone) {
    Model model(model_set(2));
    model.settle();
    if (gone & 1u) model.world.token.reset();
    if (gone & 2u) model.world.volume.reset();
    if (gone & 4u) model.world.claim.reset();
    if (gone & 8u) model.world.service.reset();
    if (gone & 16u) model.world.runtimes.reset();
    EXPECT_TRUE(model.settle().actions.empty()) << gone;
    EXPECT_EQ(model.set.status.phase, "Ready") << gone;
  }
}

// Its volume is kept for the one before, by its uid.
TEST(SampleSetPlan, AClaimThatIsMadeAgainIsBoundAgain) {
  Model model(model_set());
  model.settle();
  model.world.volume->meta.resource_version = "7";
  model.world.claim.reset();
  EXPECT_TRUE(only<ClearClaimUid>(model.pass()).empty());  // it is made in this pass
  EXPECT_FALSE(model.world.volume->bound);
  const auto freed = only<ClearClaimUid>(model.pass());
  ASSERT_EQ(freed.size(), 1u);
  EXPECT_EQ(freed[0].uid, model.world.volume->meta.uid);
  EXPECT_EQ(freed[0].resource_version, "7");
  EXPECT_TRUE(model.settle().actions.empty());
  EXPECT_EQ(model.condition("Bound").status, "True");
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.broken, "");
}

TEST(SampleSetPlan, NobodyElsesClaimIsGivenTheVolume) {
  Model model(model_set());
  model.settle();
  model.others_work = false;
  model.world.claim->bound = false;
  model.world.claim->meta.uid = "theirs";
  model.world.claim->meta.owners.clear();
  model.world.claim->meta.annotations.clear();
  EXPECT_TRUE(only<ClearClaimUid>(model.pass()).empty());
}

TEST(SampleSetPlan, AVolumeThatIsMadeAgainNamesTheClaimThatLostIt) {
  Model model(model_set());
  model.settle();
  model.world.volume.reset();
  const auto made = only<CreateObject>(model.pass());
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ((*made[0].object)["spec"]["claimRef"]["uid"], model.world.claim->meta.uid);
  EXPECT_TRUE(model.settle().actions.empty());
  EXPECT_EQ(model.set.status.phase, "Ready");
}

TEST(SampleSetPlan, ARemovalAsksForNoWarmUpAndASyncDoes) {
  Model model(model_set());
  model.settle();
  const std::string first = model.set.status.jobs->warmup;
  model.clear_cache(0);
  model.generation = 2;  // samples were removed
  model.settle();
  EXPECT_EQ(model.set.status.index->generation, 2);
  EXPECT_EQ(model.set.status.jobs->warmup, first);
  model.silence(0, std::chrono::seconds(3));
  model.settle();
  EXPECT_EQ(model.set.status.jobs->warmup, first) << "and none while nobody says which";
  model.silence(0, {});
  model.generation = model.synced = 3;
  model.settle();
  EXPECT_NE(model.set.status.jobs->warmup, first);
  EXPECT_EQ(model.broken, "");
}

}  // namespace
}  // namespace paddle::controllers::sample_set
