// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/plan.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/match.h"
#include "controllers/sample_set/children.h"
#include "controllers/sample_set/deletion.h"
#include "controllers/sample_set/progress.h"
#include "engine/names.h"
#include "engine/samplefs/manifests.h"

namespace paddle::controllers::sample_sets {
namespace {

using api::Json;
using runtime::JobState;

constexpr WallTime kNow{std::chrono::seconds(1'800'000'000)};

Setting setting() {
  return {.engines = {std::make_shared<engine::samplefs::SamplefsOperatorFace>()},
          .runtime = {.image = "paddle:1"}};
}

api::SampleSet set_of(int partitions = 1) {
  api::SampleSet set{.meta = {.key = {"train", "imagenet"}, .uid = "0123456789", .generation = 1}};
  set.spec.partitions = partitions;
  set.spec.source = api::SampleSource{.uri = "s3://bucket/images"};
  return set;
}

template <typename T>
std::vector<T> only(const Plan& plan) {
  std::vector<T> found;
  for (const auto& action : plan.actions) {
    if (auto* wanted = std::get_if<T>(&action)) found.push_back(*wanted);
  }
  return found;
}

std::string reason_of(const Plan& plan) {
  const auto written = only<SetStatus>(plan);
  if (written.empty()) return "(no status)";
  const auto* ready = api::find_condition(written.back().status.conditions, "Ready");
  return ready ? ready->reason : "(no condition)";
}

// A cluster and its runtimes small enough to trust: they do as told.
class Model {
 public:
  explicit Model(api::SampleSet start) : set(std::move(start)) {}

  // One pass; what the others in a cluster do follows at once.
  Plan pass() {
    Plan plan = gone ? ending(set, world) : desired(set, world, setting(), now);
    for (const Action& action : plan.actions) play(action);
    if (others_work) follow();
    return plan;
  }
  Plan settle(int passes = 12) {
    Plan plan;
    for (int i = 0; i < passes; ++i) plan = pass();
    return plan;
  }

  api::SampleSet set;
  World world{};
  WallTime now = kNow;
  bool others_work = true;
  bool gone = false;         // deleted: `set` is the ghost that its volume remembers
  std::string sync_error{};  // the source's answer, when it is one

 private:
  api::Meta meta_of(const api::Opaque& object) {
    auto meta = *api::decode_meta(*object);
    meta.uid = "uid-" + std::to_string(++born_);
    return meta;
  }

  void play(const Action& action) {
    std::visit(
        Match{
            [&](const DropFinalizer&) { set.meta.finalizers.clear(); },
            [&](const CreateChild& a) { create(a); },
            [&](const DeleteChild& a) {
              if (a.kind == ChildKind::kToken) world.token.reset();
              if (a.kind == ChildKind::kVolume) world.volume.reset();
              if (a.kind == ChildKind::kClaim) world.claim.reset();
              if (a.kind == ChildKind::kService) world.service.reset();
              if (a.kind == ChildKind::kRuntimes) world.runtimes.reset();
            },
            [&](const SetOwners& a) { owners_of(a.kind) = a.owners; },
            [&](const PatchRuntimes& a) {
              const Json& patch = *a.patch;
              if (patch.contains("/spec/replicas"_json_pointer)) {
                world.runtimes->replicas = patch["spec"]["replicas"];
              }
              if (patch.contains("/metadata/annotations"_json_pointer)) {
                world.runtimes->meta.annotations[kTemplateAnnotation] =
                    patch["metadata"]["annotations"][kTemplateAnnotation];
              }
            },
            [&](const ReplaceRuntime& a) {
              std::erase_if(world.pods, [&](const auto& pod) { return pod.meta.uid == a.uid; });
            },
            [&](const PutJob& a) {
              ASSERT_TRUE(set.status.jobs);  // stored before anybody hears of it
              for (auto& answer : world.answers) {
                if (answer.partition != a.partition) continue;
                if (a.request.kind == runtime::JobKind::kSync) {
                  EXPECT_EQ(set.status.jobs->sync, a.id);
                  answer.sync = runtime::JobReport{.id = a.id, .state = JobState::kRunning};
                } else {
                  EXPECT_EQ(set.status.jobs->warmup, a.id);
                  answer.warmup = runtime::JobReport{.id = a.id, .state = JobState::kRunning};
                }
              }
            },
            [&](const LabelNode& a) {
              if (a.value.empty()) {
                world.nodes[a.node].erase(a.label);
                if (world.nodes[a.node].empty()) world.nodes.erase(a.node);
              } else {
                world.nodes[a.node][a.label] = a.value;
              }
            },
            [&](const SetStatus& a) { set.status = a.status; },
            [&](const Tell&) {},
        },
        action);
  }

  std::vector<api::OwnerReference>& owners_of(ChildKind kind) {
    if (kind == ChildKind::kToken) return world.token->owners;
    if (kind == ChildKind::kClaim) return world.claim->meta.owners;
    if (kind == ChildKind::kService) return world.service->owners;
    return world.runtimes->meta.owners;
  }

  void create(const CreateChild& a) {
    const auto meta = meta_of(a.object);
    if (a.kind == ChildKind::kToken) world.token = meta;
    if (a.kind == ChildKind::kVolume) world.volume = VolumeSeen{.meta = meta};
    if (a.kind == ChildKind::kClaim) world.claim = VolumeSeen{.meta = meta};
    if (a.kind == ChildKind::kService) world.service = meta;
    if (a.kind == ChildKind::kRuntimes) {
      world.runtimes = StatefulSetSeen{.meta = meta, .replicas = (*a.object)["spec"]["replicas"]};
    }
  }

  void follow() {
    if (world.volume && world.claim) world.volume->bound = world.claim->bound = true;
    if (!world.runtimes) {
      world.pods.clear();
      world.answers.clear();
      return;
    }
    const int wanted = world.runtimes->replicas;
    for (int i = 0; i < wanted; ++i) {
      const std::string name = engine::runtime_pod_name(set, i);
      const bool there = std::ranges::any_of(
          world.pods, [&](const auto& pod) { return pod.meta.key.name == name; });
      if (there) continue;
      world.pods.push_back(
          {.meta = {.key = {"train", name},
                    .uid = "uid-" + std::to_string(++born_),
                    .annotations = {{kTemplateAnnotation,
                                     world.runtimes->meta.annotations[kTemplateAnnotation]}}},
           .phase = api::PodPhase::kRunning,
           .ip = "10.0.0." + std::to_string(i + 1),
           .node = "node-" + std::to_string(i)});
      world.answers.push_back({.partition = i, .status = runtime::StatusReport{}});
    }
    std::erase_if(world.answers, [&](const auto& answer) { return answer.partition >= wanted; });
    std::erase_if(world.pods, [&](const auto& pod) {
      return std::stoi(pod.meta.key.name.substr(pod.meta.key.name.rfind('-') + 1)) >= wanted;
    });
    world.runtimes->ready = wanted;
    for (auto& answer : world.answers) {
      if (answer.sync && set.status.jobs && answer.sync->id != set.status.jobs->sync) {
        answer.sync.reset();
      }
      if (answer.warmup && set.status.jobs && answer.warmup->id != set.status.jobs->warmup) {
        answer.warmup.reset();
      }
      if (answer.sync && answer.sync->state == JobState::kRunning) {
        answer.sync->state = sync_error.empty() ? JobState::kSucceeded : JobState::kFailed;
        answer.sync->error = sync_error;
        if (sync_error.empty()) {
          answer.status->index =
              runtime::IndexReport{.generation = 1, .digest = "d", .files = 10, .bytes = 1000};
        }
      }
      if (answer.warmup && answer.warmup->state == JobState::kRunning) {
        answer.warmup->state = JobState::kSucceeded;
        answer.status->cache.bytes = 1000;
      }
    }
  }

  int born_ = 0;
};

TEST(SampleSetPlan, MakesEverythingThatIsMissingInOnePass) {
  Model model(set_of());
  const auto plan = model.pass();
  std::vector<ChildKind> kinds;
  for (const auto& a : only<CreateChild>(plan)) kinds.push_back(a.kind);
  EXPECT_EQ(kinds, (std::vector{ChildKind::kToken, ChildKind::kVolume, ChildKind::kClaim,
                                ChildKind::kService, ChildKind::kRuntimes}));
  EXPECT_EQ(model.set.status.engine, "samplefs");
}

TEST(SampleSetPlan, GoesThroughThePhasesOfTheContract) {
  Model model(set_of());
  std::vector<std::string> phases{""};
  for (int i = 0; i < 12; ++i) {
    model.pass();
    if (model.set.status.phase != phases.back()) phases.push_back(model.set.status.phase);
  }
  EXPECT_EQ(phases, (std::vector<std::string>{"", "Mount", "Ready"}));
  EXPECT_EQ(model.set.status.cache->total_size, "1000 B");
  EXPECT_EQ(model.set.status.cache->cached_size, "1000 B");
  EXPECT_EQ(model.set.status.runtime->runtime_ready, "1/1");
  EXPECT_EQ(model.set.status.index->generation, 1);
  EXPECT_EQ(api::find_condition(model.set.status.conditions, "Warm")->status, "True");
}

TEST(SampleSetPlan, SettlesForAnyNumberOfPartitionsAndThenRests) {
  for (const int partitions : {1, 2, 5}) {
    Model model(set_of(partitions));
    const auto plan = model.settle();
    EXPECT_TRUE(plan.actions.empty()) << partitions << ": " << plan.actions.size();
    EXPECT_EQ(model.set.status.phase, "Ready");
    EXPECT_EQ(model.world.nodes.size(), static_cast<size_t>(partitions));
  }
}

TEST(SampleSetPlan, PartitionsMayChangeAtAnyTime) {
  Model model(set_of(2));
  model.settle();
  for (const int partitions : {5, 1}) {
    model.set.spec.partitions = partitions;
    ++model.set.meta.generation;
    EXPECT_TRUE(model.settle().actions.empty());
    EXPECT_EQ(model.set.status.phase, "Ready");
    EXPECT_EQ(model.world.runtimes->replicas, partitions);
    EXPECT_EQ(model.world.nodes.size(), static_cast<size_t>(partitions));
    EXPECT_EQ(model.set.status.partitions.size(), static_cast<size_t>(partitions));
  }
}

TEST(SampleSetPlan, ALostRuntimeIsPartialReadyAndNotSyncedAgain) {
  Model model(set_of(2));
  model.settle();
  model.others_work = false;
  model.world.answers.pop_back();
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
  Model model(set_of());
  model.settle();
  model.world.answers[0] = {.partition = 0, .status = runtime::StatusReport{}};
  const auto jobs = only<PutJob>(model.pass());
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].id, model.set.status.jobs->sync);
  EXPECT_TRUE(model.settle().actions.empty());
  EXPECT_EQ(model.set.status.phase, "Ready");
}

TEST(SampleSetPlan, AFailedSyncSaysWhyAndIsTriedAgainLater) {
  Model model(set_of());
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

TEST(SampleSetPlan, AChangedSpecRetriesAFailedSyncAtOnce) {
  Model model(set_of());
  model.sync_error = "no such bucket";
  model.settle(6);
  model.sync_error.clear();
  model.set.spec.source->uri = "s3://other/images";
  ++model.set.meta.generation;
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
}

TEST(SampleSetPlan, AnotherTemplateReplacesRuntimesOneAtATime) {
  Model model(set_of(2));
  model.settle();
  model.set.spec.tolerations = api::Opaque(Json::array({{{"key", "gpu"}}}));
  EXPECT_EQ(only<PatchRuntimes>(model.pass()).size(), 1u);
  EXPECT_EQ(only<ReplaceRuntime>(model.pass()).size(), 1u);
  EXPECT_EQ(only<ReplaceRuntime>(model.pass()).size(), 1u);
  EXPECT_TRUE(only<ReplaceRuntime>(model.settle()).empty());
}

TEST(SampleSetPlan, WaitsForItsSecretAndSaysSo) {
  Model model(set_of());
  model.set.spec.secret = api::SecretReference{.name = "keys"};
  model.world.secret = SecretSeen{};
  const auto plan = model.pass();
  EXPECT_EQ(reason_of(plan), "ErrorSecretNotExist");
  EXPECT_TRUE(only<CreateChild>(plan).empty());
  EXPECT_TRUE(plan.again_after);
  EXPECT_EQ(only<Tell>(plan).size(), 1u);
  EXPECT_TRUE(only<Tell>(model.pass()).empty());  // once
  model.world.secret->exists = true;
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
}

TEST(SampleSetPlan, ASecretOfAnotherNamespaceIsRefused) {
  Model model(set_of());
  model.set.spec.secret = api::SecretReference{.name = "keys", .ns = "kube-system"};
  EXPECT_EQ(reason_of(model.pass()), "SecretElsewhere");
}

TEST(SampleSetPlan, ChoosesTheEngineOnceFromTheSecret) {
  Model model(set_of());
  model.set.spec.secret = api::SecretReference{.name = "keys"};
  model.world.secret = SecretSeen{.exists = true, .has_metaurl = true};
  EXPECT_EQ(reason_of(model.pass()), "ErrorDriverNotExist");
  model.world.secret = SecretSeen{.exists = true, .has_bucket = true};
  EXPECT_EQ(reason_of(model.pass()), "EngineUnclear");
  model.set.spec.csi = api::Csi{.driver = "samplefs"};
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
}

TEST(SampleSetPlan, TouchesNothingOfAStranger) {
  Model model(set_of());
  model.world.claim = VolumeSeen{.meta = {.key = {"train", "imagenet"}, .uid = "theirs"}};
  const auto plan = model.pass();
  EXPECT_EQ(reason_of(plan), "NameTaken");
  EXPECT_TRUE(only<CreateChild>(plan).empty());
  model.gone = true;
  for (int i = 0; i < 5; ++i) {
    for (const auto& gone : only<DeleteChild>(model.pass())) EXPECT_NE(gone.uid, "theirs");
  }
}

TEST(SampleSetPlan, ANamesakeElsewhereKeepsTheSharedNodeLabelAway) {
  Model model(set_of());
  model.world.has_namesake = true;
  model.settle();
  EXPECT_EQ(
      model.world.nodes["node-0"],
      (std::map<std::string, std::string>{{engine::node_label(model.set), "imagenet-runtime-0"}}));
}

TEST(SampleSetPlan, EndsInOrderAndLeavesNothing) {
  Model model(set_of(2));
  model.settle();
  model.gone = true;
  const auto first = model.pass();
  ASSERT_EQ(only<DeleteChild>(first).size(), 1u);
  EXPECT_EQ(only<DeleteChild>(first)[0].kind, ChildKind::kRuntimes);
  model.settle();
  EXPECT_FALSE(model.world.token || model.world.volume || model.world.claim ||
               model.world.service || model.world.runtimes);
  EXPECT_TRUE(model.world.nodes.empty());
}

TEST(SampleSetPlan, TheVolumeGoesLastForItRemembersTheRest) {
  Model model(set_of(2));
  model.settle();
  model.gone = true;
  while (model.world.volume) {
    const auto volume = *model.world.volume;
    const auto plan = model.pass();
    if (model.world.volume) continue;
    EXPECT_FALSE(model.world.token || model.world.claim || model.world.service ||
                 model.world.runtimes || !model.world.pods.empty());
    EXPECT_TRUE(model.world.nodes.empty());
    const auto ghost = ghost_of(volume, kNow);
    EXPECT_EQ(ghost.meta.uid, model.set.meta.uid);
    EXPECT_EQ(ghost.meta.key.name, model.set.meta.key.name);
    EXPECT_EQ(ghost.status.engine, "samplefs");
  }
}

TEST(SampleSetPlan, NothingHoldsUpASetThatIsDeleted) {
  Model model(set_of());
  model.set.meta.finalizers = {engine::finalizer_of(model.set)};  // of an older operator
  model.settle();
  EXPECT_TRUE(model.set.meta.finalizers.empty());
  model.set.meta.finalizers = {engine::finalizer_of(model.set)};
  model.set.meta.deleted = kNow;
  EXPECT_EQ(model.pass().actions, std::vector<Action>{DropFinalizer{}});
  EXPECT_TRUE(model.pass().actions.empty());
}

TEST(SampleSetPlan, ADeletedSetKeepsItsVolumeWhileAJobUsesIt) {
  Model model(set_of());
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
  EXPECT_TRUE(model.pass().actions.empty());
  // What a collector does to those that have another owner left.
  for (auto* meta : {&*model.world.token, &model.world.claim->meta, &*model.world.service,
                     &model.world.runtimes->meta}) {
    std::erase_if(meta->owners, [](const auto& owner) { return owner.controller; });
  }
  EXPECT_TRUE(model.pass().actions.empty());
  model.world.users.clear();
  model.settle();
  EXPECT_FALSE(model.world.volume || model.world.claim || model.world.runtimes);
}

TEST(SampleSetPlan, AJobThatHasEndedKeepsNothing) {
  Model model(set_of());
  model.settle();
  model.world.users = {{"a", "uid-a"}, {"b", "uid-b"}};
  model.settle();
  model.world.users = {{"b", "uid-b"}};
  model.world.claim->meta.owners.push_back({.kind = "Backup", .name = "x", .uid = "somebody's"});
  for (const auto& each : only<SetOwners>(model.pass())) {
    const bool theirs = each.kind == ChildKind::kClaim;
    EXPECT_EQ(each.owners.size(), theirs ? 3u : 2u);
    EXPECT_EQ(each.owners.back().uid, "uid-b");
  }
}

TEST(SampleSetPlan, WithoutAutomaticWarmUpThereIsNone) {
  Model model(set_of());
  model.set.spec.warmup = api::AutoWarmup{.enabled = false};
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_TRUE(model.set.status.jobs->warmup.empty());
}

TEST(SampleSetPlan, SettlesHoweverManyOfItsThingsVanish) {
  for (unsigned gone = 0; gone < 32; ++gone) {
    Model model(set_of(2));
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

}  // namespace
}  // namespace paddle::controllers::sample_sets
