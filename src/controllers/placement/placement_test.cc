// SPDX-License-Identifier: Apache-2.0
#include "controllers/placement/placement.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "engine/names.h"

namespace paddle::controllers {
namespace {

using api::Json;

const api::ObjectKey kJob{"t", "train"};

api::SampleSet set_of(int partitions) {
  api::SampleSet set;
  set.meta.key = {"t", "imagenet"};
  set.spec.partitions = partitions;
  set.status.phase = "Ready";
  set.status.engine = "juicefs";
  return set;
}

api::SampleSetMount ref_of() { return {.name = "imagenet", .mount_path = "/mnt/imagenet"}; }

NodeSeen node_of(const std::string& name, const std::string& label, const std::string& value) {
  return {.meta = {.key = {"", name}, .labels = {{label, value}}}};
}

DataSeen ready(int partitions) {
  DataSeen seen{.set = set_of(partitions), .claim = ClaimSeen{.phase = "Bound"}};
  for (int i = 0; i < partitions; ++i) {
    seen.nodes.push_back(node_of("node" + std::to_string(i), engine::node_label(*seen.set),
                                 "imagenet-runtime-" + std::to_string(i)));
  }
  return seen;
}

std::string reason(const std::optional<BlockReason>& waiting) {
  return waiting ? waiting->reason : "(goes on)";
}

TEST(WaitsForData, GoesOnOnceTheSetIsReadyAndItsClaimIsThere) {
  auto seen = ready(2);
  EXPECT_EQ(reason(waits_for_data(kJob, ref_of(), seen)), "(goes on)");
  seen.claim->phase = "Pending";
  EXPECT_EQ(reason(waits_for_data(kJob, ref_of(), seen)), "(goes on)");
  seen.claim->phase = "Lost";
  EXPECT_EQ(reason(waits_for_data(kJob, ref_of(), seen)), "ClaimLost");
  seen.claim.reset();
  EXPECT_EQ(reason(waits_for_data(kJob, ref_of(), seen)), "ClaimMissing");
  seen.set->status.phase = "Syncing";
  const auto waits = waits_for_data(kJob, ref_of(), seen);
  EXPECT_EQ(reason(waits), "SampleSetNotReady");
  EXPECT_NE(waits->message.find("which is Syncing"), std::string::npos);
  seen.set->status.phase = "SyncFailed";
  EXPECT_NE(waits_for_data(kJob, ref_of(), seen)->message.find("; correct the SampleSet's source"),
            std::string::npos);
  seen.set->meta.deleted = WallTime{};
  EXPECT_EQ(reason(waits_for_data(kJob, ref_of(), seen)), "SampleSetGoing");
  seen.set.reset();
  EXPECT_EQ(reason(waits_for_data(kJob, ref_of(), seen)), "SampleSetMissing");
}

TEST(WaitsForData, DoesNotWaitForANodeThatASyncedSetMayNeverGet) {
  auto seen = ready(2);
  seen.set->status.phase = "PartialReady";
  EXPECT_EQ(reason(waits_for_data(kJob, ref_of(), seen)), "SampleSetNotReady");
  seen.set->status.conditions = {{.type = "Degraded", .status = "True", .reason = "NodeLost"}};
  EXPECT_EQ(reason(waits_for_data(kJob, ref_of(), seen)), "SampleSetNotReady");
  seen.set->status.conditions[0].reason = "NoNode";
  EXPECT_EQ(reason(waits_for_data(kJob, ref_of(), seen)), "(goes on)");
  seen.set->status.phase = "Bound";  // nothing is there to be read
  EXPECT_EQ(reason(waits_for_data(kJob, ref_of(), seen)), "SampleSetNotReady");
}

TEST(WaitsForData, WithAGateTheSetNeedsOnlyToBeThere) {
  auto ref = ref_of();
  ref.gate = api::DataGate{};
  DataSeen seen{.set = set_of(1)};
  seen.set->status.phase = "Mount";
  EXPECT_EQ(reason(waits_for_data(kJob, ref, seen)), "(goes on)");
  EXPECT_EQ(reason(waits_for_data(kJob, ref, {})), "SampleSetMissing");
}

TEST(WaitsForData, AnotherNamespaceIsAMistakeThatNoWaitingCures) {
  auto ref = ref_of();
  ref.ns = "t";
  EXPECT_FALSE(data_out_of_reach(kJob, ref));
  ref.ns = "other";
  EXPECT_EQ(reason(data_out_of_reach(kJob, ref)), "SampleSetElsewhere");
  EXPECT_EQ(reason(waits_for_data(kJob, ref, ready(1))), "SampleSetElsewhere");
}

TEST(PartitionMark, IsTheLabelWithTheHashWhereNodesHaveIt) {
  auto seen = ready(2);
  EXPECT_EQ(mark_of_partition(*seen.set, 1, seen.nodes),
            (NodeMark{engine::node_label(*seen.set), "imagenet-runtime-1"}));
  EXPECT_EQ(mark_of_partition(*seen.set, 2, seen.nodes), std::nullopt) << "no such partition";
  EXPECT_EQ(mark_of_partition(*seen.set, -1, seen.nodes), std::nullopt);
}

TEST(PartitionMark, IsTheContractsLabelWhereNodesHaveOnlyThat) {
  const auto set = set_of(2);
  const std::vector<NodeSeen> nodes{
      node_of("a", "paddlepaddle.org/juicefs-imagenet", "imagenet-runtime-0")};
  EXPECT_EQ(mark_of_partition(set, 0, nodes),
            (NodeMark{"paddlepaddle.org/juicefs-imagenet", "imagenet-runtime-0"}));
  EXPECT_EQ(mark_of_partition(set, 1, nodes), std::nullopt) << "no node carries it";
  EXPECT_EQ(mark_of_partition(set, 0, {}), std::nullopt);
}

// Its value is the same for a namesake's runtimes: workers would be pinned to the wrong samples.
TEST(PartitionMark, IsNotTheContractsLabelOnceAnyNodeHasTheOther) {
  auto seen = ready(2);
  seen.nodes.pop_back();
  seen.nodes.push_back(
      node_of("theirs", "paddlepaddle.org/juicefs-imagenet", "imagenet-runtime-1"));
  EXPECT_TRUE(mark_of_partition(*seen.set, 0, seen.nodes));
  EXPECT_EQ(mark_of_partition(*seen.set, 1, seen.nodes), std::nullopt);
}

TEST(PartitionMark, APartitionThatWasScaledAwayHasNone) {
  auto seen = ready(2);
  seen.set->spec.partitions = 1;
  EXPECT_EQ(mark_of_partition(*seen.set, 1, seen.nodes), std::nullopt);
}

Json two_containers() {
  return Json::parse(R"({"containers":[{"name":"main"},{"name":"side"}],
                         "initContainers":[{"name":"prepare"}]})");
}

TEST(MountSamples, TheFirstContainerGetsTheClaimUnderTheSetsName) {
  Json spec = two_containers();
  mount_samples(spec, ref_of(), ready(1));
  EXPECT_EQ(spec["volumes"].dump(),
            R"([{"name":"imagenet","persistentVolumeClaim":{"claimName":"imagenet"}}])");
  EXPECT_EQ(
      spec["containers"][0]["volumeMounts"].dump(),
      R"([{"mountPath":"/mnt/imagenet","mountPropagation":"HostToContainer","name":"imagenet"}])");
  EXPECT_FALSE(spec["containers"][1].contains("volumeMounts"));
  EXPECT_FALSE(spec["initContainers"][0].contains("volumeMounts"));
}

TEST(MountSamples, ContainersAndReadOnlyAreByField) {
  Json spec = two_containers();
  auto ref = ref_of();
  ref.containers = {"side", "prepare"};
  ref.read_only = true;
  mount_samples(spec, ref, ready(1));
  EXPECT_FALSE(spec["containers"][0].contains("volumeMounts"));
  EXPECT_EQ(spec["containers"][1]["volumeMounts"][0]["readOnly"], true);
  EXPECT_EQ(spec["initContainers"][0]["volumeMounts"][0]["mountPath"], "/mnt/imagenet");
  EXPECT_EQ(spec["volumes"][0]["persistentVolumeClaim"]["readOnly"], true);
}

TEST(MountSamples, TheUsersVolumesAndMountsAreRespected) {
  Json spec = two_containers();
  spec["volumes"] = Json::array({Json{{"name", "imagenet"}, {"emptyDir", Json::object()}}});
  mount_samples(spec, ref_of(), ready(1));
  ASSERT_EQ(spec["volumes"].size(), 2u);
  const std::string name = spec["volumes"][1]["name"];
  EXPECT_NE(name, "imagenet");
  EXPECT_EQ(spec["containers"][0]["volumeMounts"][0]["name"], name);

  spec = two_containers();
  spec["volumes"] =
      Json::parse(R"([{"name":"mine","persistentVolumeClaim":{"claimName":"imagenet"}}])");
  spec["containers"][0]["volumeMounts"] =
      Json::parse(R"([{"name":"mine","mountPath":"/mnt/imagenet","subPath":"train"}])");
  const Json before = spec;
  mount_samples(spec, ref_of(), ready(1));
  EXPECT_EQ(spec, before);
}

TEST(MountSamples, ASetWithDotsInItsNameGetsALegalVolumeName) {
  Json spec = two_containers();
  auto ref = ref_of();
  ref.name = "imagenet.v2";
  mount_samples(spec, ref, {});
  const std::string name = spec["volumes"][0]["name"];
  EXPECT_EQ(name.find('.'), std::string::npos);
  EXPECT_EQ(spec["volumes"][0]["persistentVolumeClaim"]["claimName"], "imagenet.v2");
}

TEST(MountSamples, TaintsThatTheCacheToleratesTheWorkersTolerateToo) {
  Json spec = two_containers();
  auto seen = ready(1);
  const Json taint = {{"key", "gpu"}, {"operator", "Exists"}};
  seen.set->spec.tolerations = api::Opaque(Json::array({taint}));
  mount_samples(spec, ref_of(), seen);
  mount_samples(spec, ref_of(), seen);
  EXPECT_EQ(spec["tolerations"], Json::array({taint}));
}

TEST(MountSamples, OddTemplatesNeverThrow) {
  for (const char* text : {"{}", "[]", "null", R"({"containers":{}})", R"({"containers":[3]})",
                           R"({"containers":[{"volumeMounts":"x"}],"volumes":[1,"a",{}]})"}) {
    Json spec = Json::parse(text);
    mount_samples(spec, ref_of(), ready(1));
  }
}

std::string where(const Json& spec) {
  return spec.contains("affinity") ? spec["affinity"].dump() : "anywhere";
}

TEST(PlaceWorker, EachGoesToItsPartitionAndThoseBeyondAreFree) {
  const auto seen = ready(2);
  for (int i = 0; i < 3; ++i) {
    Json spec = two_containers();
    place_worker(spec, ref_of(), seen, i);
    if (i == 2) {
      EXPECT_EQ(where(spec), "anywhere");
    } else {
      EXPECT_NE(where(spec).find("imagenet-runtime-" + std::to_string(i)), std::string::npos);
      EXPECT_NE(where(spec).find("required"), std::string::npos);
    }
  }
}

TEST(PlaceWorker, PrefersWhenTheFieldSaysSo) {
  Json spec = two_containers();
  auto ref = ref_of();
  ref.affinity = "preferred";
  place_worker(spec, ref, ready(1), 0);
  EXPECT_EQ(where(spec).find("required"), std::string::npos);
  EXPECT_NE(where(spec).find("preferred"), std::string::npos);
}

TEST(PlaceWorker, WithoutALabelledNodeItIsFree) {
  Json spec = two_containers();
  auto seen = ready(1);
  seen.nodes.clear();
  place_worker(spec, ref_of(), seen, 0);
  EXPECT_EQ(where(spec), "anywhere");
}

TEST(WaitsInVain, APodPinnedToAPartitionThatWasScaledAway) {
  auto seen = ready(3);
  api::Pod pod;
  pod.meta.annotations[kPlacedAnnotation] = "imagenet-runtime-2";
  pod.unschedulable = "0/3 nodes are available";
  EXPECT_FALSE(waits_in_vain(pod, seen));
  seen.set->spec.partitions = 2;
  EXPECT_TRUE(waits_in_vain(pod, seen)) << "nothing is amiss with the set, and no node comes";
  pod.meta.annotations[kPlacedAnnotation] = "imagenet-runtime-1";
  EXPECT_FALSE(waits_in_vain(pod, seen)) << "its node may be full for a while";
  seen.nodes.clear();
  EXPECT_FALSE(waits_in_vain(pod, seen)) << "the partition moves to another node";
  pod.meta.annotations[kPlacedAnnotation] = "imagenet-runtime-2";
  pod.unschedulable.clear();
  EXPECT_FALSE(waits_in_vain(pod, seen)) << "the scheduler has not looked at it";
}

TEST(DataVersion, IsTheIndexTheJobStartsOn) {
  auto set = set_of(1);
  EXPECT_EQ(data_version(set), (api::DataVersion{.name = "imagenet"}));
  set.status.index = api::IndexStatus{.generation = 3, .digest = "abc"};
  EXPECT_EQ(data_version(set),
            (api::DataVersion{.name = "imagenet", .generation = 3, .digest = "abc"}));
}

TEST(SeenNode, KeepsOnlyOurLabels) {
  const auto node = decode_node(Json::parse(R"({"metadata":{"name":"n","labels":{
      "kubernetes.io/hostname":"n","paddlepaddle.org/cache-1":"x"},"annotations":{"a":"b"}}})"));
  ASSERT_TRUE(node);
  EXPECT_EQ(node->meta.labels.size(), 1u);
  EXPECT_TRUE(node->meta.annotations.empty());
}

}  // namespace
}  // namespace paddle::controllers
