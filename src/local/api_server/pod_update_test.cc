// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/pod_update.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle::local {
namespace {

using api::Json;

Json pod() {
  return Json::parse(R"({"metadata": {"name": "p"}, "spec": {
    "nodeName": "here", "terminationGracePeriodSeconds": 30, "restartPolicy": "Never",
    "activeDeadlineSeconds": 600,
    "tolerations": [{"key": "gpu", "operator": "Exists", "tolerationSeconds": 60}],
    "initContainers": [{"name": "get", "image": "a:1"}],
    "containers": [{"name": "train", "image": "b:1", "command": ["python", "train.py"],
                    "env": [{"name": "SEED", "value": "1"}]}]}})");
}

// Empty: accepted.
std::string error_of(const Json& patch, Json from = pod()) {
  const Json before = from;
  for (const auto& [pointer, value] : patch.items()) {
    const Json::json_pointer at(pointer);
    if (value.is_null()) {
      from[at.parent_pointer()].erase(at.back());
    } else {
      from[at] = value;
    }
  }
  const auto checked = check_pod_update(before, from);
  if (!checked) {
    EXPECT_EQ(checked.error().code, Code::kInvalid);
  }
  return checked ? "" : checked.error().message;
}

bool is_fixed(const Json& patch) {
  return error_of(patch).starts_with("spec: Forbidden: pod updates may not change fields other");
}

TEST(PodUpdate, WhatARealServerPermitsMayChange) {
  for (const Json& patch : {
           Json::object(),
           Json{{"/metadata/labels", {{"a", "b"}}}, {"/metadata/annotations", {{"c", "d"}}}},
           Json{{"/spec/containers/0/image", "b:2"}, {"/spec/initContainers/0/image", "a:2"}},
           Json{{"/spec/activeDeadlineSeconds", 60}},
           Json{{"/spec/tolerations/0/tolerationSeconds", 5},
                {"/spec/tolerations/1", {{"key", "x"}}}},
       }) {
    EXPECT_EQ(error_of(patch), "") << patch;
  }
}

TEST(PodUpdate, NoRunningProcessIsDescribedByAnotherCommand) {
  for (const Json& patch : {
           Json{{"/spec/containers/0/command", {"sleep", "9"}}},
           Json{{"/spec/containers/0/command", nullptr}},
           Json{{"/spec/containers/0/args", {"--fast"}}},
           Json{{"/spec/containers/0/env/0/value", "2"}},
           Json{{"/spec/containers/0/image", nullptr}},
           Json{{"/spec/containers/1", {{"name", "more"}, {"image", "c"}}}},
           Json{{"/spec/initContainers", nullptr}},
           Json{{"/spec/restartPolicy", "Always"}},
           Json{{"/spec/terminationGracePeriodSeconds", 1}},
           Json{{"/spec/nodeSelector", {{"disk", "ssd"}}}},
           Json{{"/spec/nodeName", "there"}},
           Json{{"/spec/volumes", {{{"name", "v"}}}}},
       }) {
    EXPECT_TRUE(is_fixed(patch)) << patch << "\n" << error_of(patch);
  }
}

TEST(PodUpdate, AnErrorNamesTheFieldThatMayChangeInOneDirectionOnly) {
  EXPECT_EQ(error_of({{"/spec/containers/0/image", ""}}),
            "spec.containers[0].image: Required value");
  EXPECT_EQ(
      error_of({{"/spec/activeDeadlineSeconds", 601}}),
      "spec.activeDeadlineSeconds: Invalid value: 601: must be less than or equal to previous "
      "value");
  EXPECT_TRUE(error_of({{"/spec/activeDeadlineSeconds", nullptr}}).find("to nil value") !=
              std::string::npos);
  EXPECT_TRUE(error_of({{"/spec/activeDeadlineSeconds", 0}}).find("between 1 and") !=
              std::string::npos);
  for (const Json& patch :
       {Json{{"/spec/tolerations", nullptr}}, Json{{"/spec/tolerations/0/key", "cpu"}}}) {
    EXPECT_TRUE(error_of(patch).starts_with("spec.tolerations: Forbidden: an existing toleration"))
        << patch;
  }
  EXPECT_EQ(error_of({{"/spec/schedulingGates", {{{"name", "new"}}}}}),
            "spec.schedulingGates: Forbidden: only deletion is allowed, but found new scheduling "
            "gate 'new'");
}

TEST(PodUpdate, APodThatIsNotScheduledYetIsPlacedByItsGateAndBoundOnce) {
  Json gated = pod();
  gated["spec"].erase("nodeName");
  gated["spec"]["schedulingGates"] = {{{"name", "samples"}}};
  const Json released{{"/spec/schedulingGates", nullptr},
                      {"/spec/nodeSelector", {{"disk", "ssd"}}},
                      {"/spec/affinity", {{"nodeAffinity", Json::object()}}}};
  EXPECT_EQ(error_of(released, gated), "");
  EXPECT_NE(error_of({{"/spec/nodeSelector", {{"disk", "ssd"}}}}), "");
  EXPECT_EQ(error_of({{"/spec/nodeName", "here"}}, gated), "");
}

TEST(PodUpdate, ANegativeGracePeriodMayBecomeOne) {
  Json odd = pod();
  odd["spec"]["terminationGracePeriodSeconds"] = -1;
  EXPECT_EQ(error_of({{"/spec/terminationGracePeriodSeconds", 1}}, odd), "");
  EXPECT_NE(error_of({{"/spec/terminationGracePeriodSeconds", 2}}, odd), "");
}

}  // namespace
}  // namespace paddle::local
