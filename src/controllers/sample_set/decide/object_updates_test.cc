// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/object_updates.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/sample_set/objects/owned_objects.h"
#include "controllers/sample_set/testing/model_cluster.h"
#include "engine/names.h"

namespace paddle::controllers::sample_set {
namespace {

using api::Json;

TEST(SampleSetObjectUpdates, AChangedTemplateReplacesRuntimesOneAtATime) {
  ModelCluster model(model_set(2));
  model.settle();
  model.set.spec.tolerations = api::Opaque(Json::array({{{"key", "gpu"}}}));
  EXPECT_EQ(only<PatchObject>(model.pass()).size(), 1u);
  EXPECT_EQ(only<ReplaceRuntime>(model.pass()).size(), 1u);
  EXPECT_EQ(only<ReplaceRuntime>(model.pass()).size(), 1u);
  EXPECT_TRUE(only<ReplaceRuntime>(model.settle()).empty());
}

// The template is replaced as a whole, not merged.
TEST(SampleSetObjectUpdates, ATemplateLosesWhatTheSpecNoLongerHas) {
  ModelCluster model(model_set(2));
  model.set.spec.tolerations = api::Opaque(Json::array({{{"key", "gpu"}}}));
  model.set.spec.node_affinity = api::Opaque(Json{{"preferred", Json::array()}});
  model.settle();
  model.set.spec.tolerations = {};
  model.set.spec.node_affinity = {};
  model.world.runtimes->meta.resource_version = "7";
  const auto changes = only<PatchObject>(model.pass());
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].resource_version, "7");
  Json stored = {{"metadata", {{"annotations", {{kTemplateHash, "old"}}}}},
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
  EXPECT_EQ(stored["metadata"]["annotations"][kTemplateHash],
            annotation(model.world.runtimes->meta, kTemplateHash));
}

TEST(SampleSetObjectUpdates, ReplicasAndTemplateArePatchedSeparately) {
  ModelCluster model(model_set(1));
  model.settle();
  model.repartition(2);
  model.set.spec.tolerations = api::Opaque(Json::array({{{"key", "gpu"}}}));
  const auto changes = only<PatchObject>(model.pass());
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ((*changes[0].operations)[0]["path"], "/spec/replicas");
  EXPECT_EQ((*changes[1].operations)[0]["path"], "/spec/template");
  EXPECT_TRUE(only<PatchObject>(model.settle()).empty());
}

TEST(SampleSetObjectUpdates, AnUnschedulableRuntimeDelaysNoReplacement) {
  ModelCluster model(model_set(3), 3);
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

TEST(SampleSetObjectUpdates, AServingRuntimeIsReplacedOnlyWhenNoOtherStarts) {
  ModelCluster model(model_set(2));
  model.settle();
  model.environment_runs = false;
  model.world.pods[0].containers = {
      {.ready = true, .state = api::ContainerStatus::State::kRunning}};
  model.world.runtimes->ready = 1;
  model.set.spec.tolerations = api::Opaque(Json::array({{{"key", "gpu"}}}));
  model.pass();
  model.world.pods[1].meta.annotations[kTemplateHash] =
      annotation(model.world.runtimes->meta, kTemplateHash);
  EXPECT_TRUE(only<ReplaceRuntime>(model.pass()).empty());
  model.world.runtimes->ready = 2;
  EXPECT_EQ(only<ReplaceRuntime>(model.pass()).size(), 1u);
}

TEST(SampleSetObjectUpdates, ForeignObjectsAreNeverTouched) {
  ModelCluster model(model_set());
  model.world.claim = VolumeSummary{.meta = {.key = {"train", "imagenet"}, .uid = "theirs"}};
  const auto plan = model.pass();
  EXPECT_EQ(ready_reason(plan), "NameTaken");
  EXPECT_TRUE(only<CreateObject>(plan).empty());
  model.deleted = true;
  for (int i = 0; i < 5; ++i) {
    for (const auto& gone : only<DeleteObject>(model.pass())) EXPECT_NE(gone.uid, "theirs");
  }
}

// The claimRef of its volume has the uid of the previous claim.
TEST(SampleSetObjectUpdates, AClaimThatIsCreatedAgainIsBoundAgain) {
  ModelCluster model(model_set());
  model.settle();
  model.world.volume->meta.resource_version = "7";
  model.world.claim.reset();
  EXPECT_TRUE(only<SetClaimUid>(model.pass()).empty());  // the claim is created in this pass
  EXPECT_FALSE(model.world.volume->bound);
  const auto freed = only<SetClaimUid>(model.pass());
  ASSERT_EQ(freed.size(), 1u);
  EXPECT_EQ(freed[0].uid, model.world.volume->meta.uid);
  EXPECT_EQ(freed[0].resource_version, "7");
  EXPECT_TRUE(is_empty(model.settle()));
  EXPECT_EQ(model.condition("Bound").status, "True");
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.violation, "");
}

TEST(SampleSetObjectUpdates, AClaimIsChangedOnceWhenItsVolumeExistsSoThatItIsBoundAtOnce) {
  ModelCluster model(model_set());
  model.environment_runs = false;
  model.pass();
  ASSERT_TRUE(model.world.claim);
  EXPECT_TRUE(only<Annotate>(model.pass()).empty());  // the volume is created in this pass
  const auto changed = only<Annotate>(model.pass());
  ASSERT_EQ(changed.size(), 1u);
  EXPECT_EQ(changed[0].kind, OwnedKind::kClaim);
  EXPECT_EQ(annotation(model.world.claim->meta, kVolumeUid), model.world.volume->meta.uid);
  EXPECT_TRUE(only<Annotate>(model.pass()).empty());
}

TEST(SampleSetObjectUpdates, AForeignClaimDoesNotGetTheVolume) {
  ModelCluster model(model_set());
  model.settle();
  model.environment_runs = false;
  model.world.claim->bound = false;
  model.world.claim->meta.uid = "theirs";
  model.world.claim->meta.owners.clear();
  model.world.claim->meta.annotations.clear();
  EXPECT_TRUE(only<SetClaimUid>(model.pass()).empty());
}

// The driver is privileged: its Secret and these annotations control it.
TEST(SampleSetObjectUpdates, TheSecretOfTheDriverIsOwnedByTheVolumeAndFollowsTheUsers) {
  ModelCluster model(model_set(1, true));
  model.settle();
  ASSERT_TRUE(model.world.driver_credentials);
  const api::Meta& copy = model.world.driver_credentials->meta;
  EXPECT_EQ(copy.key.ns, "paddle-volumes");
  ASSERT_EQ(copy.owners.size(), 1u);
  EXPECT_EQ(copy.owners[0].kind, "PersistentVolume");
  EXPECT_EQ(copy.owners[0].uid, model.world.volume->meta.uid);
  // The garbage collector would delete it with the volume that was its owner.
  model.world.driver_credentials->meta.owners[0].uid = "of a previous volume";
  const auto owned = only<SetOwners>(model.pass());
  ASSERT_EQ(owned.size(), 1u);
  EXPECT_EQ(owned[0].owners[0].uid, model.world.volume->meta.uid);
  EXPECT_TRUE(is_empty(model.settle()));
}

TEST(SampleSetObjectUpdates, NoRuntimeIsCreatedBeforeTheSecretOfTheDriver) {
  ModelCluster model(model_set(1, true));
  for (int i = 0; i < 20 && !model.world.driver_credentials; ++i) {
    EXPECT_EQ(count_created(model.pass(), OwnedKind::kRuntimes), 0u);
  }
  EXPECT_TRUE(model.world.driver_credentials);
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
}

TEST(SampleSetObjectUpdates, AnEditedCopyIsRestoredAlthoughItsVersionIsCurrent) {
  ModelCluster model(model_set(1, true));
  model.settle();
  const auto good = model.world.credentials->values;
  ASSERT_TRUE(good);
  for (auto* copy : {&model.world.credentials, &model.world.driver_credentials}) {
    for (const char* key : {"metaurl", "added"}) {
      (*copy)->values->insert_or_assign(key, "x; id");
      const auto restored = only<UpdateCredentials>(model.pass());
      ASSERT_EQ(restored.size(), 1u) << key;
      EXPECT_EQ(restored[0].uid, (*copy)->meta.uid);
      EXPECT_EQ((*copy)->values, good);
    }
    (*copy)->values->clear();
    EXPECT_EQ(only<UpdateCredentials>(model.pass()).size(), 1u);
    EXPECT_TRUE(is_empty(model.settle()));
  }
}

TEST(SampleSetObjectUpdates, AnnotationsThatControlTheDriverAreRemovedFromTheClaim) {
  ModelCluster model(model_set(1, true));
  model.settle();
  auto& annotations = model.world.claim->meta.annotations;
  annotations["juicefs/mount-image"] = "evil";
  annotations["juicefs-host-path"] = "/";
  annotations["pv.kubernetes.io/bind-completed"] = "yes";
  const auto plan = model.pass();
  ASSERT_EQ(only<Annotate>(plan).size(), 1u);
  ASSERT_EQ(only<EmitEvent>(plan).size(), 1u);
  EXPECT_EQ(only<EmitEvent>(plan)[0].reason, "ClaimAnnotationsRemoved");
  EXPECT_NE(only<EmitEvent>(plan)[0].message.find("juicefs/mount-image"), std::string::npos);
  EXPECT_EQ(only<EmitEvent>(plan)[0].message.find("evil"), std::string::npos);
  EXPECT_FALSE(annotations.contains("juicefs/mount-image"));
  EXPECT_FALSE(annotations.contains("juicefs-host-path"));
  EXPECT_TRUE(annotations.contains("pv.kubernetes.io/bind-completed"));
  EXPECT_TRUE(is_empty(model.settle()));
}

TEST(SampleSetObjectUpdates, AVolumeThatIsCreatedAgainNamesItsClaim) {
  ModelCluster model(model_set());
  model.settle();
  model.world.volume.reset();
  const auto made = only<CreateObject>(model.pass());
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ((*made[0].object)["spec"]["claimRef"]["uid"], model.world.claim->meta.uid);
  EXPECT_TRUE(is_empty(model.settle()));
  EXPECT_EQ(model.set.status.phase, "Ready");
}

TEST(SampleSetObjectUpdates, TheNetworkPolicyFollowsTheManifest) {
  ModelCluster model(model_set(1, true));
  model.settle();
  const std::string mark = annotation(*model.world.policy, kSpecHash);
  EXPECT_FALSE(mark.empty());
  model.world.policy->annotations["theirs"] = "stays";
  model.world.policy->annotations[kSpecHash] = "of an older operator";
  model.world.policy->resource_version = "7";
  const auto changes = only<PatchObject>(model.pass());
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].kind, OwnedKind::kPolicy);
  EXPECT_EQ(changes[0].uid, model.world.policy->uid);
  EXPECT_EQ(changes[0].resource_version, "7");
  const api::Json& patch = *changes[0].operations;
  EXPECT_EQ(patch[0]["path"], "/spec");
  EXPECT_EQ(patch[1]["path"], "/metadata/annotations/batch.paddlepaddle.org~1made-from");
  EXPECT_EQ(patch[1]["value"], mark);
  EXPECT_TRUE(only<PatchObject>(model.settle()).empty());
  EXPECT_EQ(annotation(*model.world.policy, "theirs"), "stays");
}

TEST(SampleSetObjectUpdates, TheTokenIsRenewedInTheSecondHalfOfItsLifetime) {
  ModelCluster model(model_set());
  EXPECT_TRUE(only<RenewToken>(model.settle()).empty());
  model.now += std::chrono::hours(25);
  ASSERT_EQ(only<RenewToken>(model.pass()).size(), 1u);
  EXPECT_TRUE(only<RenewToken>(model.settle()).empty());
}

TEST(SampleSetObjectUpdates, ThePreviousTokenIsForgottenTenMinutesAfterARenewal) {
  ModelCluster model(model_set());
  model.settle();
  EXPECT_FALSE(model.world.token->annotations.contains(kForgetAfter)) << "the first has none";
  model.now += std::chrono::hours(25);
  model.settle();
  model.now += std::chrono::minutes(9);
  EXPECT_TRUE(only<ForgetPreviousToken>(model.settle()).empty())
      << "a file may still be the old one";
  model.now += std::chrono::minutes(1);
  EXPECT_EQ(only<ForgetPreviousToken>(model.pass()).size(), 1u);
  EXPECT_TRUE(only<ForgetPreviousToken>(model.settle()).empty()) << "once";
}

TEST(SampleSetObjectUpdates, WhatTheDeletedSetOfTheSameNameLeftIsWaitedFor) {
  ModelCluster model(model_set());
  model.world.claim = VolumeSummary{
      .meta = {
          .key = {"train", "imagenet"},
          .uid = "old",
          .owners = {
              {.kind = "SampleSet", .name = "imagenet", .uid = "before", .controller = true}}}};
  const auto plan = model.pass();
  EXPECT_EQ(ready_reason(plan), "NameTaken");
  const auto* ready = api::find_condition(plan.status->conditions, "Ready");
  EXPECT_NE(ready->message.find("of a deleted SampleSet of the same name"), std::string::npos)
      << ready->message;
}

TEST(SampleSetObjectUpdates, AForeignPodWithThePreparationsNameIsLeftAlone) {
  ModelCluster model(model_set(1, true));
  model.world.preparation =
      api::Pod{.meta = {.key = {"train", engine::preparation_name(model.set)}, .uid = "theirs"}};
  const auto plan = model.pass();
  EXPECT_EQ(ready_reason(plan), "NameTaken");
  EXPECT_EQ(only<EmitEvent>(plan).back().reason, "ErrorPodAlreadyExist");
  EXPECT_TRUE(only<CreateObject>(plan).empty());
  EXPECT_TRUE(only<DeleteObject>(plan).empty());
}

}  // namespace
}  // namespace paddle::controllers::sample_set
