// SPDX-License-Identifier: Apache-2.0
#include "local/cluster/placement.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle::local {
namespace {

using api::Json;

NodeInfo node(const std::string& name, std::map<std::string, std::string> labels = {}) {
  NodeInfo info{.ready = true};
  info.meta.key.name = name;
  info.meta.labels = std::move(labels);
  return info;
}

PendingPod with_affinity(const Json& terms) {
  const Json pod = {{"metadata", {{"name", "p"}, {"namespace", "n"}}},
                    {"spec",
                     {{"affinity",
                       {{"nodeAffinity",
                         {{"requiredDuringSchedulingIgnoredDuringExecution",
                           {{"nodeSelectorTerms", terms}}}}}}}}}};
  return *decode_pending_pod(pod);
}

Json expression(const char* key, const char* op, const Json& values = Json::array()) {
  return {{"key", key}, {"operator", op}, {"values", values}};
}

TEST(Placement, ChoosesTheFirstReadyNodeByName) {
  auto busy = node("a");
  busy.unschedulable = true;
  auto broken = node("b");
  broken.ready = false;
  EXPECT_EQ(place({}, {node("d"), broken, node("c"), busy}).node, "c");
  EXPECT_EQ(place({}, {broken}).node, "");
  EXPECT_NE(place({}, {}).message.find("no node is ready"), std::string::npos);
}

TEST(Placement, DoesNotPlaceAPodWithASchedulingGate) {
  Json object = {{"metadata", {{"name", "p"}, {"namespace", "n"}}},
                 {"spec", {{"schedulingGates", Json::array({Json{{"name", "x/data"}}})}}}};
  const auto waits = place(*decode_pending_pod(object), {node("a")});
  EXPECT_EQ(waits.node, "");
  EXPECT_EQ(waits.reason, "SchedulingGated");
  EXPECT_EQ(waits.message, "waiting until the scheduling gate x/data is removed");
  object["spec"]["schedulingGates"] = Json::array();
  EXPECT_EQ(place(*decode_pending_pod(object), {node("a")}).node, "a");
  EXPECT_EQ(place({}, {}).reason, "Unschedulable");
}

TEST(Placement, HonoursTheNodeSelector) {
  PendingPod pod;
  pod.node_selector = {{"cached", "imagenet"}};
  EXPECT_EQ(place(pod, {node("a"), node("b", {{"cached", "imagenet"}})}).node, "b");
  const auto placement = place(pod, {node("a", {{"cached", "coco"}})});
  EXPECT_EQ(placement.node, "");
  EXPECT_NE(placement.message.find("cached=imagenet"), std::string::npos);
}

TEST(Placement, HonoursRequiredNodeAffinity) {
  const auto any = with_affinity(Json::array(
      {Json{{"matchExpressions", Json::array({expression("x", "In", Json::array({"1", "2"}))})}},
       Json{{"matchExpressions", Json::array({expression("gpu", "Exists")})}}}));
  EXPECT_TRUE(fits(any, node("a", {{"x", "2"}})));
  EXPECT_TRUE(fits(any, node("a", {{"gpu", ""}})));
  EXPECT_FALSE(fits(any, node("a", {{"x", "3"}})));

  const auto all = with_affinity(Json::array(
      {Json{{"matchExpressions", Json::array({expression("x", "NotIn", Json::array({"1"})),
                                              expression("old", "DoesNotExist"),
                                              expression("cores", "Gt", Json::array({"3"}))})}}}));
  EXPECT_TRUE(fits(all, node("a", {{"cores", "4"}})));
  EXPECT_FALSE(fits(all, node("a", {{"cores", "3"}})));
  EXPECT_FALSE(fits(all, node("a", {{"cores", "4"}, {"old", ""}})));
  EXPECT_FALSE(fits(all, node("a", {{"cores", "4"}, {"x", "1"}})));

  const auto by_name = with_affinity(Json::array({Json{
      {"matchFields", Json::array({expression("metadata.name", "In", Json::array({"a"}))})}}}));
  EXPECT_TRUE(fits(by_name, node("a")));
  EXPECT_FALSE(fits(by_name, node("b")));
  EXPECT_FALSE(fits(with_affinity(Json::array({Json::object()})), node("a")));
  EXPECT_FALSE(fits(with_affinity(Json::array()), node("a")));
}

}  // namespace
}  // namespace paddle::local
