// SPDX-License-Identifier: Apache-2.0
#include "cli/results.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle::cli {
namespace {

using api::Json;

const kube::Resource kJobs{"batch.paddlepaddle.org", "v1", "paddlejobs", "PaddleJob", true};
const kube::Resource kPods{"", "v1", "pods", "Pod", true};

Json named(const std::string& name) { return {{"metadata", {{"name", name}}}}; }

TEST(Results, OneObjectIsPrintedAsItIs) {
  EXPECT_EQ(one_document({{kPods, named("a")}}), named("a"));
}

TEST(Results, SeveralObjectsAndKindsAreOneList) {
  const Json list = one_document(
      {{kJobs, {{"kind", "PaddleJobList"}, {"items", Json::array({named("j"), named("k")})}}},
       {kPods, named("p")}});
  EXPECT_EQ(list.at("kind"), "List");
  ASSERT_EQ(list.at("items").size(), 3u);
  EXPECT_EQ(list.at("items")[0].at("apiVersion"), "batch.paddlepaddle.org/v1");
  EXPECT_EQ(list.at("items")[1].at("kind"), "PaddleJob");
  EXPECT_EQ(list.at("items")[2].at("apiVersion"), "v1");
  EXPECT_EQ(list.at("items")[2].at("metadata").at("name"), "p");
}

TEST(Results, TablesOfOneKindHaveOneHeading) {
  const auto table = [](const std::string& name) {
    return Json{{"columnDefinitions", Json::array({{{"name", "Name"}}})},
                {"rows", Json::array({{{"cells", Json::array({name})}}})}};
  };
  const Json merged = merged_table({table("a"), table("b")});
  EXPECT_EQ(merged.at("columnDefinitions").size(), 1u);
  ASSERT_EQ(merged.at("rows").size(), 2u);
  EXPECT_EQ(merged.at("rows")[1].at("cells")[0], "b");
  EXPECT_TRUE(merged_table({}).empty());
}

}  // namespace
}  // namespace paddle::cli
