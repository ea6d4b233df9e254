// SPDX-License-Identifier: Apache-2.0
//
// Each thing that a set waits for, missing at first and there later: it says what is missing, makes
// nothing that could not work, and goes on by itself.

#include "controllers/sample_set/decide/volume_preparation.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/sample_set/decide/object_updates.h"
#include "controllers/sample_set/testing/model_cluster.h"
#include "engine/names.h"

namespace paddle::controllers::sample_set {
namespace {

using std::chrono::seconds;

size_t created(const Plan& plan, OwnedKind kind) {
  size_t count = 0;
  for (const auto& a : only<CreateObject>(plan)) count += a.kind == kind;
  return count;
}

TEST(SampleSetPrerequisites, TheSecret) {
  for (const bool leading : {false, true}) {
    Model model(model_set(1, leading));
    model.set.spec.secret = api::SecretReference{.name = "keys"};
    const auto later = model.world.secret.value_or(SecretSummary{.exists = true, .version = "s/1"});
    model.world.secret = SecretSummary{};
    const auto plan = model.pass();
    EXPECT_EQ(reason_of(plan), "ErrorSecretNotExist");
    EXPECT_TRUE(only<CreateObject>(plan).empty());
    EXPECT_EQ(only<Tell>(plan).size(), 1u);
    EXPECT_TRUE(only<Tell>(model.pass()).empty());  // once
    model.world.secret = later;
    model.settle();
    EXPECT_EQ(model.set.status.phase, "Ready");
    EXPECT_EQ(model.broken, "");
  }
}

TEST(SampleSetPrerequisites, TheSecretOfTheSource) {
  Model model(model_set(1, true));
  model.set.spec.source->secret = api::SecretReference{.name = "source-keys"};
  model.world.source_secret_missing = true;
  const auto plan = model.pass();
  EXPECT_EQ(reason_of(plan), "ErrorSecretNotExist");
  EXPECT_NE(model.condition("Ready").message.find("source-keys"), std::string::npos);
  model.world.source_secret_missing = false;
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
}

TEST(SampleSetPrerequisites, ASecretOfAnotherNamespaceIsRefused) {
  Model model(model_set());
  model.set.spec.secret = api::SecretReference{.name = "keys", .ns = "kube-system"};
  EXPECT_EQ(reason_of(model.pass()), "SecretElsewhere");
}

TEST(SampleSetPrerequisites, AnEngineThatIsClearFromTheSecret) {
  Model model(model_set());
  model.set.spec.secret = api::SecretReference{.name = "keys"};
  model.put_secret("s/1", {{"bucket", "b"}});
  EXPECT_EQ(reason_of(model.pass()), "EngineUnclear");
  model.set.spec.csi = api::Csi{.driver = "other"};
  EXPECT_EQ(reason_of(model.pass()), "ErrorDriverNotExist");
  model.set.spec.csi = api::Csi{.driver = "samplefs"};
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.set.status.engine, "samplefs");
}

TEST(SampleSetPrerequisites, TheCsiDriver) {
  Model model(model_set(1, true));
  model.world.drivers->installed.clear();
  model.settle();
  EXPECT_EQ(model.condition("CSIDriverMissing").status, "True");
  EXPECT_NE(model.condition("Ready").message.find("deploy/csi/juicefs.yaml"), std::string::npos);
  EXPECT_EQ(model.condition("Ready").reason, "CSIDriverMissing");
  EXPECT_FALSE(model.world.runtimes);
  EXPECT_TRUE(model.world.claim);  // all that can be there is
  model.world.drivers->installed.insert(SharingBuilder::kDriver);
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.condition("CSIDriverMissing").status, "False");
}

// Of our own engine as well, but for one machine, whose node mounts its volumes by itself.
TEST(SampleSetPrerequisites, TheCsiDriverOfOurOwnEngine) {
  Config cluster = model_config();
  cluster.drivers_of_nodes.clear();
  const api::SampleSet set = model_set();
  World world{.drivers = CsiDriverSummary{.installed = {SharingBuilder::kDriver}}};
  const Plan plan = desired(set, world, cluster, WallTime{});
  EXPECT_EQ(reason_of(plan), "CSIDriverMissing");
  const auto conditions = only<SetStatus>(plan).back().status.conditions;
  const std::string said = api::find_condition(conditions, "Ready")->message;
  EXPECT_NE(said.find("samplefs.csi.paddlepaddle.org"), std::string::npos) << said;
  EXPECT_NE(said.find("metaurl"), std::string::npos) << said;
  EXPECT_EQ(created(plan, OwnedKind::kRuntimes), 0u);
  EXPECT_EQ(created(plan, OwnedKind::kClaim), 1u);

  world.drivers->installed.insert("samplefs.csi.paddlepaddle.org");
  EXPECT_EQ(created(desired(set, world, cluster, WallTime{}), OwnedKind::kRuntimes), 1u);

  const Plan local = desired(set, {}, model_config(), WallTime{});
  EXPECT_EQ(created(local, OwnedKind::kRuntimes), 1u);
  EXPECT_EQ(
      api::find_condition(only<SetStatus>(local).back().status.conditions, "CSIDriverMissing"),
      nullptr);
}

TEST(SampleSetPrerequisites, TheCsiDriverOnTheNodeOfARuntime) {
  Model model(model_set(1, true));
  model.settle();
  model.others_work = false;
  model.world.pods[0].phase = api::PodPhase::kPending;
  model.world.runtime_reports.clear();
  model.world.runtimes->ready = 0;
  model.world.drivers->on_node.clear();
  model.pass();
  EXPECT_EQ(model.condition("CSIDriverMissing").reason, "DriverNotOnNode");
  model.others_work = true;
  model.world.pods[0].phase = api::PodPhase::kRunning;
  model.settle();
  EXPECT_EQ(model.condition("CSIDriverMissing").status, "False");
  EXPECT_EQ(model.set.status.phase, "Ready");
}

TEST(SampleSetPrerequisites, ANode) {
  for (const bool leading : {false, true}) {
    Model model(model_set(2, leading), 1);
    model.settle();
    EXPECT_NE(model.set.status.phase, "Ready");
    EXPECT_EQ(model.condition("Degraded").reason, "NoNode");
    EXPECT_NE(model.condition("Degraded").message.find("no node has room"), std::string::npos);
    model.heal_node("node-9");  // a new one
    model.settle();
    EXPECT_EQ(model.set.status.phase, "Ready");
    EXPECT_EQ(model.condition("Degraded").status, "False");
  }
}

TEST(SampleSetPrerequisites, RoomInTheNamespacesQuota) {
  Model model(model_set());
  model.world.rejected_creation = Rejection{"ErrorCreatePVC", "exceeded quota: small"};
  const auto plan = model.pass();
  EXPECT_EQ(reason_of(plan), "ErrorCreatePVC");
  EXPECT_EQ(model.condition("Ready").message, "exceeded quota: small");
  EXPECT_TRUE(plan.requeue_after);
  model.world.rejected_creation.reset();  // the next pass tries again
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
}

TEST(SampleSetPrerequisites, WhatIsRefusedIsSaidOnceForEachAndOtherwiseNothingChanges) {
  Model model(model_set());
  model.settle();
  model.world.rejected_writes = {"change StatefulSet imagenet-runtime: bad",
                                 "label node node-0: no"};
  const auto plan = model.pass();
  EXPECT_EQ(only<Tell>(plan).size(), 2u);
  EXPECT_EQ(only<Tell>(plan)[0].reason, "ActionRefused");
  EXPECT_EQ(model.condition("Degraded").reason, "ActionRefused");
  EXPECT_NE(model.condition("Degraded").message.find("imagenet-runtime: bad"), std::string::npos);
  EXPECT_NE(model.condition("Degraded").message.find("node-0: no"), std::string::npos);
  EXPECT_EQ(model.condition("Ready").status, "True");
  EXPECT_TRUE(only<Tell>(model.pass()).empty());
  model.world.rejected_writes.emplace_back("keep PVC for users: no");
  EXPECT_EQ(only<Tell>(model.pass()).size(), 1u);
  model.world.rejected_writes.clear();
  model.pass();
  EXPECT_EQ(model.condition("Degraded").status, "False");
}

TEST(SampleSetPreparation, ComesAfterTheCredentialsAndBeforeTheRuntimes) {
  Model model(model_set(2, true));
  const auto first = model.pass();
  EXPECT_EQ(created(first, OwnedKind::kCredentials), 1u);
  EXPECT_EQ(created(first, OwnedKind::kPreparation), 0u);
  const auto second = model.pass();
  EXPECT_EQ(created(second, OwnedKind::kPreparation), 1u);
  EXPECT_EQ(created(second, OwnedKind::kRuntimes), 0u);
  EXPECT_EQ(annotation(*model.world.credentials, kCopiedFrom), "s/1");
  model.settle();
  EXPECT_TRUE(model.world.runtimes);
  EXPECT_FALSE(model.world.preparation);  // it is not needed any more
  EXPECT_EQ(annotation(*model.world.credentials, kPreparedWith), "s/1");
}

TEST(SampleSetPreparation, AFailureSaysWhyAndIsTriedAgainLaterEachTime) {
  Model model(model_set(1, true));
  model.format_error = "the bucket does not exist";
  model.settle(6);
  EXPECT_EQ(model.condition("Ready").reason, "PreparationFailed");
  EXPECT_NE(model.condition("Ready").message.find("the bucket does not exist"), std::string::npos);
  EXPECT_FALSE(model.world.runtimes);
  const auto pod = model.world.preparation->meta.uid;
  model.settle();
  EXPECT_EQ(model.world.preparation->meta.uid, pod);
  model.now += seconds(10);
  model.settle();
  EXPECT_NE(model.world.preparation->meta.uid, pod);
  const auto second = model.world.preparation->meta.uid;
  model.now += seconds(10);
  model.settle();
  EXPECT_EQ(model.world.preparation->meta.uid, second);  // this time it takes 20 s
  model.format_error.clear();
  model.now += seconds(10);
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
}

TEST(SampleSetPreparation, ANewSecretIsTriedAtOnce) {
  Model model(model_set(1, true));
  model.format_error = "access denied";
  model.settle();
  model.format_error.clear();
  model.put_secret("s/2", {{"metaurl", "redis://x"}, {"secret-key", "right"}});
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(annotation(*model.world.credentials, kPreparedWith), "s/2");
}

TEST(SampleSetPreparation, OtherCredentialsAreCopiedBesideRuntimesThatGoOn) {
  Model model(model_set(2, true));
  model.settle();
  const auto runtimes = model.world.runtimes->meta.uid;
  model.put_secret("s/2", {{"metaurl", "redis://x"}, {"secret-key", "rotated"}});
  const auto plan = model.pass();
  ASSERT_EQ(only<UpdateCredentials>(plan).size(), 1u);
  EXPECT_NE((*only<UpdateCredentials>(plan)[0].data)["secret-key"], nullptr);
  EXPECT_TRUE(model.settle().actions.empty());
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.world.runtimes->meta.uid, runtimes);
  EXPECT_EQ(annotation(*model.world.credentials, kPreparedWith), "s/2");
}

TEST(SampleSetPreparation, OtherCredentialsAreWrittenIntoTheVolumeOrTheSetSaysWhyNot) {
  Model model(model_set(1, true));
  model.settle();
  model.format_error = "access denied";
  model.put_secret("s/2", {{"metaurl", "redis://x"}, {"secret-key", "wrong"}});
  std::vector<CreateObject> made;
  for (int i = 0; i < 6; ++i) {
    for (auto& each : only<CreateObject>(model.pass())) made.push_back(each);
  }
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ((*made[0].object)["spec"]["again"], true);
  EXPECT_EQ(model.condition("Degraded").reason, "CredentialsRefused");
  EXPECT_NE(model.condition("Degraded").message.find("access denied"), std::string::npos);
  EXPECT_EQ(model.set.status.phase, "Ready");  // it goes on with those that it has
  EXPECT_EQ(annotation(*model.world.credentials, kPreparedWith), "s/1");
  model.format_error.clear();
  model.put_secret("s/3", {{"metaurl", "redis://x"}, {"secret-key", "right"}});
  EXPECT_TRUE(model.settle().actions.empty());
  EXPECT_EQ(model.condition("Degraded").status, "False");
  EXPECT_EQ(annotation(*model.world.credentials, kPreparedWith), "s/3");
}

TEST(SampleSetPolicy, FollowsWhatTheOperatorWants) {
  Model model(model_set(1, true));
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

TEST(SampleSetPreparation, ASecretThatGoesLaterLeavesTheCopy) {
  Model model(model_set(1, true));
  model.settle();
  model.world.secret->exists = false;  // its values are the copy's
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.condition("Degraded").reason, "SecretGone");
  EXPECT_TRUE(model.world.credentials);
}

TEST(SampleSetPreparation, SoDoesTheSecretOfTheSource) {
  Model model(model_set(1, true));
  model.set.spec.source->secret = api::SecretReference{.name = "source-keys"};
  model.settle();
  model.world.source_secret_missing = true;
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.condition("Degraded").reason, "SecretGone");
  EXPECT_TRUE(model.condition("Degraded").message.starts_with("the secret source-keys is gone"));
  model.world.secret->exists = false;
  model.settle();
  EXPECT_TRUE(
      model.condition("Degraded").message.starts_with("the secrets keys and source-keys are gone"));
}

// The engine can make nothing of it, but what is there is looked after.
TEST(SampleSetSecret, ABadEditLeavesTheRuntimesInGoodHands) {
  Model model(model_set(2, true));
  model.settle();
  model.put_secret("s/2", {{"metaurl-with-a-typo", "redis://x"}});
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.condition("Ready").status, "True");
  EXPECT_EQ(model.condition("Degraded").reason, "SpecRefused");
  EXPECT_NE(model.condition("Degraded").message.find("no metaurl"), std::string::npos);
  EXPECT_EQ(annotation(*model.world.credentials, kCopiedFrom), "s/1");

  model.others_work = false;
  const std::string silent = model.node_of(0);
  model.silence(0, seconds(10));
  model.pass();
  EXPECT_FALSE(model.world.node_labels.contains(silent));
  EXPECT_EQ(model.condition("Degraded").reason, "RuntimeSilent");
  model.silence(0, seconds(0));
  model.others_work = true;

  const std::string lost = model.node_of(1);
  model.lose_node(lost);
  model.settle();
  EXPECT_NE(model.node_of(1), lost);
  EXPECT_EQ(model.set.status.phase, "Ready") << "and is warmed up there";
  model.now += std::chrono::hours(25);
  EXPECT_EQ(only<RenewToken>(model.pass()).size(), 1u);
  model.put_secret("s/3", {{"metaurl", "redis://x"}});
  EXPECT_TRUE(model.settle().actions.empty());
  EXPECT_EQ(model.condition("Degraded").status, "False");
  EXPECT_EQ(model.broken, "");
}

// Before the first sync has ended there is no serving without it, but runtimes are there.
TEST(SampleSetSecret, OneThatGoesInTheMiddleLeavesTheRuntimesInGoodHands) {
  Model model(model_set(2, true));
  model.slow = {0, 1};
  model.settle();
  model.world.secret->exists = false;
  model.settle();
  EXPECT_EQ(model.condition("Ready").reason, "ErrorSecretNotExist");
  model.others_work = false;
  const std::string silent = model.node_of(1);
  model.silence(1, seconds(10));
  model.pass();
  EXPECT_FALSE(model.world.node_labels.contains(silent));
}

TEST(SampleSetPreparation, IsMadeAgainWhenItsNodeIsLost) {
  for (const bool leaving : {false, true}) {
    Model model(model_set(1, true));
    while (!model.world.preparation) {
      model.others_work = false;
      model.pass();
    }
    api::Pod& pod = *model.world.preparation;
    const std::string uid = pod.meta.uid;
    pod.node = "node-5";
    pod.phase = api::PodPhase::kRunning;
    model.world.runtime_nodes["node-5"] = NodeSummary{.ready = false, .unready_since = model.now};
    if (leaving) pod.meta.deleted = model.now;
    EXPECT_TRUE(only<DeleteObject>(model.pass()).empty());
    model.now += seconds(leaving ? 5 : 25);
    const auto gone = only<DeleteObject>(model.pass());
    ASSERT_EQ(gone.size(), 1u);
    EXPECT_EQ(gone[0].uid, uid);
    EXPECT_TRUE(gone[0].force);
    model.others_work = true;
    model.settle();
    EXPECT_EQ(model.set.status.phase, "Ready");
  }
}

TEST(SampleSetPreparation, IsNotGivenUpWhenNoNodeIsReady) {
  Model model(model_set(1, true));
  model.others_work = false;
  while (!model.world.preparation) model.pass();
  model.world.preparation->node = "node-5";
  model.world.runtime_nodes["node-5"] = NodeSummary{.ready = false, .unready_since = model.now};
  model.world.any_node_ready = false;
  model.now += seconds(60);
  EXPECT_TRUE(only<DeleteObject>(model.pass()).empty());
}

TEST(SampleSetToken, IsRenewedInTheSecondHalfOfItsLife) {
  Model model(model_set());
  EXPECT_TRUE(only<RenewToken>(model.settle()).empty());
  model.now += std::chrono::hours(25);
  ASSERT_EQ(only<RenewToken>(model.pass()).size(), 1u);
  EXPECT_TRUE(only<RenewToken>(model.settle()).empty());
}

TEST(SampleSetPreparation, AStrangersPodOfThatNameIsLeftAlone) {
  Model model(model_set(1, true));
  model.world.preparation =
      api::Pod{.meta = {.key = {"train", engine::preparation_name(model.set)}, .uid = "theirs"}};
  const auto plan = model.pass();
  EXPECT_EQ(reason_of(plan), "NameTaken");
  EXPECT_EQ(only<Tell>(plan).back().reason, "ErrorPodAlreadyExist");
  EXPECT_TRUE(only<CreateObject>(plan).empty());
  EXPECT_TRUE(only<DeleteObject>(plan).empty());
}

}  // namespace
}  // namespace paddle::controllers::sample_set
