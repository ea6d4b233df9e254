// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/engine_selection.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "controllers/sample_set/decide/status/status_events.h"
#include "controllers/sample_set/objects/owned_objects.h"
#include "controllers/sample_set/testing/model_cluster.h"

namespace paddle::controllers::sample_set {
namespace {

using std::chrono::seconds;

TEST(SampleSetEngineSelection, WaitsForTheSecretOfTheSet) {
  for (const bool shares_volume : {false, true}) {
    ModelCluster model(model_set(1, shares_volume));
    model.set.spec.secret = api::SecretReference{.name = "keys"};
    const auto later = model.world.secret.value_or(SecretSummary{.exists = true, .version = "s/1"});
    model.world.secret = SecretSummary{};
    const auto plan = model.pass();
    EXPECT_EQ(ready_reason(plan), "ErrorSecretNotExist");
    EXPECT_TRUE(only<CreateObject>(plan).empty());
    EXPECT_EQ(only<EmitEvent>(plan).size(), 1u);
    EXPECT_TRUE(only<EmitEvent>(model.pass()).empty());  // only once
    model.world.secret = later;
    model.settle();
    EXPECT_EQ(model.set.status.phase, "Ready");
    EXPECT_EQ(model.violation, "");
  }
}

TEST(SampleSetEngineSelection, TheCachesOfANamespaceHaveALimitThatBlocksWhatIsNotRunning) {
  Config config = model_config();
  config.namespace_cache_mib = 4096;
  const auto selected = [&](const ModelCluster& model) {
    return select_engine(model.set, model.world, config);
  };
  ModelCluster model(model_set(3, true));  // 1 GiB for each partition
  model.world.cache_mib_of_others = 1024;
  EXPECT_FALSE(selected(model).blocked.blocks());
  EXPECT_EQ(selected(model).namespace_cache, "4.0 GiB of 4.0 GiB");
  model.world.cache_mib_of_others = 1025;
  const auto refused = selected(model).blocked;
  EXPECT_EQ(refused.reason, "CacheLimitExceeded");
  for (const char* part : {"3.0 GiB", "3 x 1.0 GiB", "4.0 GiB", "--namespace-cache-limit"}) {
    EXPECT_NE(refused.message.find(part), std::string::npos) << part << ": " << refused.message;
  }
  model.settle();  // without a limit
  EXPECT_FALSE(selected(model).blocked.blocks()) << "it runs";
  model.set.spec.partitions = 4;
  EXPECT_EQ(selected(model).blocked.reason, "CacheLimitExceeded") << "it grows";
  config.namespace_cache_mib = 0;
  EXPECT_FALSE(selected(model).blocked.blocks());
  EXPECT_EQ(selected(model).namespace_cache, "");
}

TEST(SampleSetEngineSelection, WaitsForTheSecretOfTheSource) {
  ModelCluster model(model_set(1, true));
  model.set.spec.source->secret = api::SecretReference{.name = "source-keys"};
  model.world.source_secret_missing = true;
  const auto plan = model.pass();
  EXPECT_EQ(ready_reason(plan), "ErrorSecretNotExist");
  EXPECT_NE(model.condition("Ready").message.find("source-keys"), std::string::npos);
  model.world.source_secret_missing = false;
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
}

TEST(SampleSetEngineSelection, SaysThatAReferenceHasNoName) {
  ModelCluster model(model_set(1, true));
  model.set.spec.source->secret = api::SecretReference{.ns = model.set.meta.key.ns};
  model.world.source_secret_missing = true;
  EXPECT_EQ(ready_reason(model.pass()), "ErrorSecretNotExist");
  EXPECT_NE(model.condition("Ready").message.find("has no name"), std::string::npos);
}

TEST(SampleSetEngineSelection, RefusesASecretOfAnotherNamespace) {
  ModelCluster model(model_set());
  model.set.spec.secret = api::SecretReference{.name = "keys", .ns = "kube-system"};
  EXPECT_EQ(ready_reason(model.pass()), "SecretElsewhere");
}

TEST(SampleSetEngineSelection, WaitsForAnEngineThatTheSpecOrTheSecretShows) {
  ModelCluster model(model_set());
  model.set.spec.secret = api::SecretReference{.name = "keys"};
  model.put_secret("s/1", {{"bucket", "b"}});
  EXPECT_EQ(ready_reason(model.pass()), "EngineUnclear");
  model.set.spec.csi = api::Csi{.driver = "other"};
  EXPECT_EQ(ready_reason(model.pass()), "ErrorDriverNotExist");
  model.set.spec.csi = api::Csi{.driver = "samplefs"};
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.set.status.engine, "samplefs");
}

TEST(SampleSetEngineSelection, OffersSamplefsOnOneMachineAndNotOnClusters) {
  const auto message = [](const std::string& driver, bool one_machine) {
    Config config = model_config();
    if (!one_machine) config.built_in_drivers.clear();
    api::SampleSet set = model_set();
    set.spec.secret = api::SecretReference{.name = "keys"};
    if (!driver.empty()) set.spec.csi = api::Csi{.driver = driver};
    World world{.secret = SecretSummary{.exists = true, .values = {{"bucket", "b"}}}};
    return select_engine(set, world, config).blocked.message;
  };
  for (const char* driver : {"", "other"}) {
    EXPECT_NE(message(driver, true).find("samplefs"), std::string::npos) << message(driver, true);
    EXPECT_EQ(message(driver, false).find("samplefs"), std::string::npos) << message(driver, false);
    EXPECT_NE(message(driver, false).find("juicefs"), std::string::npos) << message(driver, false);
  }
}

TEST(SampleSetEngineSelection, WithoutJuicefsASecretForItMeansSamplefsAndOneEventSaysSo) {
  Config config = model_config();
  std::erase_if(config.engines, [](const auto& each) { return each->name() == "juicefs"; });
  for (const char* key : {"metaurl", "bucket"}) {
    api::SampleSet set = model_set();
    set.spec.secret = api::SecretReference{.name = "keys"};
    const World world{.secret = SecretSummary{.exists = true, .values = {{key, "redis://x"}}}};
    const EngineSelection selection = select_engine(set, world, config);
    EXPECT_EQ(selection.engine, "samplefs");
    EXPECT_FALSE(selection.blocked.blocks()) << selection.blocked.message;
    const api::SampleSetStatus next{.engine = "samplefs"};
    const auto events = [&] {
      Plan plan;
      emit_status_events(set, world, next, selection, plan);
      return std::ranges::count(only<EmitEvent>(plan), "JuiceFSNotUsed", &EmitEvent::reason);
    };
    EXPECT_EQ(events(), 1);
    set.status.engine = "samplefs";
    EXPECT_EQ(events(), 0);
  }
  EXPECT_EQ(select_engine(model_set(), {}, config).unused, "");
}

TEST(SampleSetEngineSelection, CreatesNoRuntimesWithoutTheCsiDriver) {
  ModelCluster model(model_set(1, true));
  model.world.drivers->installed.clear();
  model.settle();
  EXPECT_EQ(model.condition("CSIDriverMissing").status, "True");
  EXPECT_NE(model.condition("Ready").message.find("deploy/csi/juicefs.yaml"), std::string::npos);
  EXPECT_EQ(model.condition("Ready").reason, "CSIDriverMissing");
  EXPECT_FALSE(model.world.runtimes);
  EXPECT_TRUE(model.world.claim);  // everything else is created
  model.world.drivers->installed.insert(SharedVolumeEngine::kDriver);
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.condition("CSIDriverMissing").status, "False");
}

// On one machine the node mounts volumes of samplefs without a driver.
TEST(SampleSetEngineSelection, NeedsTheCsiDriverOfSamplefsExceptWhereItIsBuiltIn) {
  Config cluster = model_config();
  cluster.built_in_drivers.clear();
  const api::SampleSet set = model_set();
  World world{.drivers = CsiDriverSummary{.installed = {SharedVolumeEngine::kDriver}}};
  const Plan plan = desired(set, world, cluster, WallTime{});
  EXPECT_EQ(ready_reason(plan), "CSIDriverMissing");
  const auto conditions = plan.status->conditions;
  const std::string message = api::find_condition(conditions, "Ready")->message;
  EXPECT_NE(message.find("samplefs.csi.paddlepaddle.org"), std::string::npos) << message;
  EXPECT_NE(message.find("metaurl"), std::string::npos) << message;
  EXPECT_EQ(count_created(plan, OwnedKind::kRuntimes), 0u);
  EXPECT_EQ(count_created(plan, OwnedKind::kClaim), 1u);

  world.drivers->installed.insert("samplefs.csi.paddlepaddle.org");
  EXPECT_EQ(count_created(desired(set, world, cluster, WallTime{}), OwnedKind::kRuntimes), 1u);

  const Plan local = desired(set, {}, model_config(), WallTime{});
  EXPECT_EQ(count_created(local, OwnedKind::kRuntimes), 1u);
  EXPECT_EQ(api::find_condition(local.status->conditions, "CSIDriverMissing"), nullptr);
}

TEST(SampleSetEngineSelection, ReportsTheNodeWithoutTheCsiDriver) {
  ModelCluster model(model_set(1, true));
  model.settle();
  model.environment_runs = false;
  model.world.pods[0].phase = api::PodPhase::kPending;
  model.world.runtime_reports.clear();
  model.world.runtimes->ready = 0;
  model.world.drivers->on_node.clear();
  model.pass();
  EXPECT_EQ(model.condition("CSIDriverMissing").reason, "DriverNotOnNode");
  model.environment_runs = true;
  model.world.pods[0].phase = api::PodPhase::kRunning;
  model.settle();
  EXPECT_EQ(model.condition("CSIDriverMissing").status, "False");
  EXPECT_EQ(model.set.status.phase, "Ready");
}

// The engine rejects the Secret; the existing objects are maintained.
TEST(SampleSetEngineSelection, ASecretThatTheEngineRefusesLeavesTheRuntimesMaintained) {
  ModelCluster model(model_set(2, true));
  model.settle();
  model.put_secret("s/2", {{"metaurl-with-a-typo", "redis://x"}});
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(model.condition("Ready").status, "True");
  EXPECT_EQ(model.condition("Degraded").reason, "SpecRefused");
  EXPECT_NE(model.condition("Degraded").message.find("no metaurl"), std::string::npos);
  EXPECT_EQ(annotation(model.world.credentials->meta, kCopiedFrom), "s/1");

  model.environment_runs = false;
  const std::string silent = model.node_of(0);
  model.silence(0, seconds(10));
  model.pass();
  EXPECT_FALSE(model.world.node_labels.contains(silent));
  EXPECT_EQ(model.condition("Degraded").reason, "RuntimeSilent");
  model.silence(0, seconds(0));
  model.environment_runs = true;

  const std::string lost = model.node_of(1);
  model.lose_node(lost);
  model.settle();
  EXPECT_NE(model.node_of(1), lost);
  EXPECT_EQ(model.set.status.phase, "Ready") << "it is warmed up on the new node";
  model.now += std::chrono::hours(25);
  EXPECT_EQ(only<RenewToken>(model.pass()).size(), 1u);
  model.put_secret("s/3", {{"metaurl", "redis://x"}});
  EXPECT_TRUE(is_empty(model.settle()));
  EXPECT_EQ(model.condition("Degraded").status, "False");
  EXPECT_EQ(model.violation, "");
}

// Before the first sync has ended the set needs the Secret, but its runtimes exist.
TEST(SampleSetEngineSelection, ASecretDeletedDuringTheFirstSyncLeavesTheRuntimesMaintained) {
  ModelCluster model(model_set(2, true));
  model.slow = {0, 1};
  model.settle();
  model.world.secret->exists = false;
  model.settle();
  EXPECT_EQ(model.condition("Ready").reason, "ErrorSecretNotExist");
  model.environment_runs = false;
  const std::string silent = model.node_of(1);
  model.silence(1, seconds(10));
  model.pass();
  EXPECT_FALSE(model.world.node_labels.contains(silent));
}

}  // namespace
}  // namespace paddle::controllers::sample_set
