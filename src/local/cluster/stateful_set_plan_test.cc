// SPDX-License-Identifier: Apache-2.0
#include "local/cluster/stateful_set_plan.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle::local {
namespace {

using api::Json;
using api::PodPhase;

StatefulSet set_of(int replicas, bool parallel = true) {
  Json object = {{"metadata", {{"name", "web"}, {"namespace", "n"}, {"uid", "u"}}},
                 {"spec",
                  {{"replicas", replicas},
                   {"serviceName", "svc"},
                   {"podManagementPolicy", parallel ? "Parallel" : "OrderedReady"},
                   {"template",
                    {{"metadata", {{"labels", {{"app", "web"}}}}},
                     {"spec", {{"containers", Json::array({Json{{"name", "c"}}})}}}}}}}};
  return *decode_stateful_set(object);
}

MemberPod pod(const StatefulSet& set, int index, PodPhase phase = PodPhase::kRunning) {
  MemberPod made;
  made.revision = revision_of(set);
  made.pod.meta.key = {"n", member_name(set, index)};
  made.pod.meta.uid = "uid-" + std::to_string(index);
  made.pod.phase = phase;
  made.pod.containers = {{.name = "c",
                          .ready = phase == PodPhase::kRunning,
                          .state = api::ContainerStatus::State::kRunning}};
  return made;
}

template <typename T>
std::vector<T> only(const MemberPlan& plan) {
  std::vector<T> found;
  for (const auto& action : plan) {
    if (const auto* wanted = std::get_if<T>(&action)) found.push_back(*wanted);
  }
  return found;
}

TEST(StatefulSetPlan, CreatesPodsInParallelOrInOrder) {
  EXPECT_EQ(only<CreateMember>(desired_members(set_of(3), {})).size(), 3u);
  const auto ordered = set_of(3, false);
  EXPECT_EQ(only<CreateMember>(desired_members(ordered, {})), (std::vector<CreateMember>{{0}}));
  EXPECT_TRUE(
      only<CreateMember>(desired_members(ordered, {pod(ordered, 0, PodPhase::kPending)})).empty());
  EXPECT_EQ(only<CreateMember>(desired_members(ordered, {pod(ordered, 0)})),
            (std::vector<CreateMember>{{1}}));
}

TEST(StatefulSetPlan, GivesPodsTheNamesLabelsAndOwnerOfTheSet) {
  const auto set = set_of(2);
  const Json made = member_pod(set, 1);
  EXPECT_EQ(made["metadata"]["name"], "web-1");
  EXPECT_EQ(made["metadata"]["labels"][kPodNameLabel], "web-1");
  EXPECT_EQ(made["metadata"]["labels"]["app"], "web");
  EXPECT_EQ(made["metadata"]["ownerReferences"][0]["uid"], "u");
  EXPECT_EQ(made["spec"]["hostname"], "web-1");
  EXPECT_EQ(made["spec"]["subdomain"], "svc");
}

TEST(StatefulSetPlan, ScalesDownFromTheHighestOrdinal) {
  const auto set = set_of(1, false);
  std::vector<MemberPod> pods;
  for (const int i : {0, 2, 10, 1}) pods.push_back(pod(set, i));
  auto gone = only<DeleteMember>(desired_members(set, pods));
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0].key.name, "web-10");
  pods[2].pod.meta.deleted = WallTime{};
  EXPECT_TRUE(only<DeleteMember>(desired_members(set, pods)).empty()) << "one at a time";
}

TEST(StatefulSetPlan, ReplacesPodsThatEnded) {
  const auto set = set_of(2);
  const auto plan = desired_members(set, {pod(set, 0, PodPhase::kFailed), pod(set, 1)});
  const auto gone = only<DeleteMember>(plan);
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0].uid, "uid-0");
  EXPECT_TRUE(only<CreateMember>(plan).empty()) << "its name is taken until it is gone";
}

TEST(StatefulSetPlan, RollsANewTemplateOutFromTheLastToTheFirst) {
  const auto set = set_of(2);
  auto first = pod(set, 0);
  auto second = pod(set, 1);
  first.revision = second.revision = "older";
  auto gone = only<DeleteMember>(desired_members(set, {first, second}));
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0].key.name, "web-1");

  const auto starting = pod(set, 1, PodPhase::kPending);
  EXPECT_TRUE(only<DeleteMember>(desired_members(set, {first, starting})).empty());
  gone = only<DeleteMember>(desired_members(set, {first, pod(set, 1)}));
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0].key.name, "web-0");
}

TEST(StatefulSetPlan, WritesTheStatusAndThenSettles) {
  auto set = set_of(2);
  set.meta.generation = 4;
  const std::vector<MemberPod> pods{pod(set, 1), pod(set, 0, PodPhase::kPending)};
  const auto status = only<SetStatefulStatus>(desired_members(set, pods));
  ASSERT_EQ(status.size(), 1u);
  EXPECT_EQ(status[0].status, (StatefulSetStatus{.replicas = 2,
                                                 .ready = 1,
                                                 .current = 2,
                                                 .observed_generation = 4,
                                                 .revision = revision_of(set)}));
  set.status = status[0].status;
  EXPECT_TRUE(desired_members(set, pods).empty());
}

TEST(StatefulSetPlan, LeavesADeletedSetToTheGarbageCollector) {
  auto set = set_of(2);
  set.meta.deleted = WallTime{};
  EXPECT_TRUE(desired_members(set, {}).empty());
}

TEST(StatefulSet, RejectsVolumeClaimTemplates) {
  const Json object = {
      {"metadata", {{"name", "web"}}},
      {"spec",
       {{"template", Json::object()}, {"volumeClaimTemplates", Json::array({Json::object()})}}}};
  EXPECT_TRUE(decode_stateful_set(object).is(Code::kInvalid));
}

}  // namespace
}  // namespace paddle::local
