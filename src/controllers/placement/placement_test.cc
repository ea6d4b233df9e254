// SPDX-License-Identifier: Apache-2.0
#include "controllers/placement/placement.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "engine/names.h"

namespace paddle::controllers::placement {
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

DataSummary ready(int partitions) {
  DataSummary data{.set = set_of(partitions), .claim = ClaimSummary{.phase = "Bound"}};
  for (int i = 0; i < partitions; ++i) {
    data.node_labels[engine::node_label(*data.set)].insert("imagenet-runtime-" + std::to_string(i));
  }
  return data;
}

std::string reason(const std::optional<BlockReason>& reason) {
  return reason ? reason->reason : "(goes on)";
}

TEST(DataBlockReason, IsAbsentWhenTheSetIsReadyAndItsClaimExists) {
  auto data = ready(2);
  EXPECT_EQ(reason(data_block_reason(kJob, ref_of(), data)), "(goes on)");
  data.claim->phase = "Pending";
  EXPECT_EQ(reason(data_block_reason(kJob, ref_of(), data)), "(goes on)");
  data.claim->phase = "Lost";
  EXPECT_EQ(reason(data_block_reason(kJob, ref_of(), data)), "ClaimLost");
  data.claim.reset();
  EXPECT_EQ(reason(data_block_reason(kJob, ref_of(), data)), "ClaimMissing");
  data.set->status.phase = "Syncing";
  const auto waits = data_block_reason(kJob, ref_of(), data);
  EXPECT_EQ(reason(waits), "SampleSetNotReady");
  EXPECT_NE(waits->message.find("which is Syncing"), std::string::npos);
  data.set->status.phase = "SyncFailed";
  EXPECT_NE(
      data_block_reason(kJob, ref_of(), data)->message.find("; correct the SampleSet's source"),
      std::string::npos);
  data.set->meta.deleted = WallTime{};
  EXPECT_EQ(reason(data_block_reason(kJob, ref_of(), data)), "SampleSetGoing");
  data.set.reset();
  EXPECT_EQ(reason(data_block_reason(kJob, ref_of(), data)), "SampleSetMissing");
}

TEST(DataBlockReason, IsAbsentWhileASyncedSetHasNoNode) {
  auto data = ready(2);
  data.set->status.phase = "PartialReady";
  EXPECT_EQ(reason(data_block_reason(kJob, ref_of(), data)), "SampleSetNotReady");
  data.set->status.conditions = {{.type = "Degraded", .status = "True", .reason = "NodeLost"}};
  EXPECT_EQ(reason(data_block_reason(kJob, ref_of(), data)), "SampleSetNotReady");
  data.set->status.conditions[0].reason = "NoNode";
  EXPECT_EQ(reason(data_block_reason(kJob, ref_of(), data)), "(goes on)");
  data.set->status.phase = "Bound";  // nothing is there to be read
  EXPECT_EQ(reason(data_block_reason(kJob, ref_of(), data)), "SampleSetNotReady");
}

TEST(DataBlockReason, IsAbsentWithAGateWhenTheSetExists) {
  auto ref = ref_of();
  ref.gate = api::DataGate{};
  DataSummary data{.set = set_of(1)};
  data.set->status.phase = "Mount";
  EXPECT_EQ(reason(data_block_reason(kJob, ref, data)), "(goes on)");
  EXPECT_EQ(reason(data_block_reason(kJob, ref, {})), "SampleSetMissing");
}

TEST(DataBlockReason, AnotherNamespaceIsAnError) {
  auto ref = ref_of();
  ref.ns = "t";
  EXPECT_FALSE(data_namespace_error(kJob, ref));
  ref.ns = "other";
  EXPECT_EQ(reason(data_namespace_error(kJob, ref)), "SampleSetElsewhere");
  EXPECT_EQ(reason(data_block_reason(kJob, ref, ready(1))), "SampleSetElsewhere");
}

TEST(PartitionLabel, IsTheLabelWithTheHashWhereNodesHaveIt) {
  auto data = ready(2);
  EXPECT_EQ(label_of_partition(*data.set, 1, data.node_labels),
            (NodeLabel{engine::node_label(*data.set), "imagenet-runtime-1"}));
  EXPECT_EQ(label_of_partition(*data.set, 2, data.node_labels), std::nullopt)
      << "no such partition";
  EXPECT_EQ(label_of_partition(*data.set, -1, data.node_labels), std::nullopt);
}

TEST(PartitionLabel, IsTheContractsLabelWhereNodesHaveOnlyThat) {
  const auto set = set_of(2);
  const NodeLabelValues nodes{{"paddlepaddle.org/juicefs-imagenet", {"imagenet-runtime-0"}}};
  EXPECT_EQ(label_of_partition(set, 0, nodes),
            (NodeLabel{"paddlepaddle.org/juicefs-imagenet", "imagenet-runtime-0"}));
  EXPECT_EQ(label_of_partition(set, 1, nodes), std::nullopt) << "no node carries it";
  EXPECT_EQ(label_of_partition(set, 0, {}), std::nullopt);
}

// Its value is the same for a namesake's runtimes: workers would be pinned to the wrong samples.
TEST(PartitionLabel, IsNotTheContractsLabelWhenAnyNodeHasTheOther) {
  auto data = ready(2);
  data.node_labels[engine::node_label(*data.set)].erase("imagenet-runtime-1");
  data.node_labels["paddlepaddle.org/juicefs-imagenet"] = {"imagenet-runtime-1"};
  EXPECT_TRUE(label_of_partition(*data.set, 0, data.node_labels));
  EXPECT_EQ(label_of_partition(*data.set, 1, data.node_labels), std::nullopt);
}

TEST(PartitionLabel, APartitionThatWasScaledAwayHasNone) {
  auto data = ready(2);
  data.set->spec.partitions = 1;
  EXPECT_EQ(label_of_partition(*data.set, 1, data.node_labels), std::nullopt);
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

TEST(MountSamples, ASetWithDotsInItsNameGetsAValidVolumeName) {
  Json spec = two_containers();
  auto ref = ref_of();
  ref.name = "imagenet.v2";
  mount_samples(spec, ref, {});
  const std::string name = spec["volumes"][0]["name"];
  EXPECT_EQ(name.find('.'), std::string::npos);
  EXPECT_EQ(spec["volumes"][0]["persistentVolumeClaim"]["claimName"], "imagenet.v2");
}

TEST(MountSamples, WorkersGetTheTolerationsOfTheSet) {
  Json spec = two_containers();
  auto data = ready(1);
  const Json taint = {{"key", "gpu"}, {"operator", "Exists"}};
  data.set->spec.tolerations = api::Opaque(Json::array({taint}));
  mount_samples(spec, ref_of(), data);
  mount_samples(spec, ref_of(), data);
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

TEST(PlaceWorker, WorkersRequireTheNodeOfTheirPartitionAndOthersMayRunAnywhere) {
  const auto data = ready(2);
  for (int i = 0; i < 3; ++i) {
    Json spec = two_containers();
    place_worker(spec, ref_of(), data, i);
    if (i == 2) {
      EXPECT_EQ(where(spec), "anywhere");
    } else {
      EXPECT_NE(where(spec).find("imagenet-runtime-" + std::to_string(i)), std::string::npos);
      EXPECT_NE(where(spec).find("required"), std::string::npos);
    }
  }
}

TEST(PlaceWorker, PrefersTheNodeWithAffinityPreferred) {
  Json spec = two_containers();
  auto ref = ref_of();
  ref.affinity = "preferred";
  place_worker(spec, ref, ready(1), 0);
  EXPECT_EQ(where(spec).find("required"), std::string::npos);
  EXPECT_NE(where(spec).find("preferred"), std::string::npos);
}

TEST(PlaceWorker, WithoutALabelledNodeAWorkerMayRunAnywhere) {
  Json spec = two_containers();
  auto data = ready(1);
  data.node_labels.clear();
  place_worker(spec, ref_of(), data, 0);
  EXPECT_EQ(where(spec), "anywhere");
}

TEST(LostPartition, IsThatOfAPodThatRequiresAPartitionWhichWasScaledAway) {
  auto data = ready(3);
  api::Pod pod;
  pod.meta.annotations[kPlacedAnnotation] = "imagenet-runtime-2";
  pod.unschedulable = "0/3 nodes are available";
  EXPECT_FALSE(has_lost_its_partition(pod, data));
  data.set->spec.partitions = 2;
  EXPECT_TRUE(has_lost_its_partition(pod, data))
      << "nothing is amiss with the set, and no node comes";
  pod.meta.annotations[kPlacedAnnotation] = "imagenet-runtime-1";
  EXPECT_FALSE(has_lost_its_partition(pod, data)) << "its node may be full for a while";
  data.node_labels.clear();
  EXPECT_FALSE(has_lost_its_partition(pod, data)) << "the partition moves to another node";
  pod.meta.annotations[kPlacedAnnotation] = "imagenet-runtime-2";
  pod.unschedulable.clear();
  EXPECT_FALSE(has_lost_its_partition(pod, data)) << "the scheduler has not looked at it";
}

TEST(DataVersion, IsTheIndexTheJobStartsOn) {
  auto set = set_of(1);
  EXPECT_EQ(data_version(set), (api::DataVersion{.name = "imagenet"}));
  set.status.index = api::IndexStatus{.generation = 3, .digest = "abc"};
  EXPECT_EQ(data_version(set),
            (api::DataVersion{.name = "imagenet", .generation = 3, .digest = "abc"}));
}

TEST(NodeSummary, KeepsOnlyOurLabels) {
  const auto node = decode_node(Json::parse(R"({"metadata":{"name":"n","labels":{
      "kubernetes.io/hostname":"n","paddlepaddle.org/cache-1":"x"},"annotations":{"a":"b"}}})"));
  ASSERT_TRUE(node);
  EXPECT_EQ(node->labels, (std::map<std::string, std::string>{{"paddlepaddle.org/cache-1", "x"}}));
}

}  // namespace
}  // namespace paddle::controllers::placement
