// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/placement/placement.h"

namespace paddle::controllers::placement {
namespace {

using api::Json;

const NodeLabel kLabel{"paddlepaddle.org/cache-1", "set-runtime-0"};
constexpr const char* kOurs =
    R"({"key":"paddlepaddle.org/cache-1","operator":"In","values":["set-runtime-0"]})";

Json required(const std::string& terms) {
  return Json::parse(R"({"affinity":{"nodeAffinity":{
      "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":)" +
                     terms + "}}}}");
}

std::string terms_of(const Json& spec) {
  return spec
      .at("/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/"
          "nodeSelectorTerms"_json_pointer)
      .dump();
}

TEST(RequireNode, IsTheOnlyTermWhenTheUserHasNone) {
  for (const char* text : {"{}", R"({"affinity":null})", R"({"affinity":{"nodeAffinity":{}}})"}) {
    Json spec = Json::parse(text);
    require_node(spec, kLabel);
    EXPECT_EQ(terms_of(spec), std::string("[{\"matchExpressions\":[") + kOurs + "]}]") << text;
  }
}

TEST(RequireNode, GoesIntoEveryTermBecauseTermsAreAlternatives) {
  Json spec = required(R"([{"matchExpressions":[{"key":"zone","operator":"In","values":["a"]}]},
                           {"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}])");
  require_node(spec, kLabel);
  EXPECT_EQ(terms_of(spec),
            std::string(R"([{"matchExpressions":[{"key":"zone","operator":"In","values":["a"]},)") +
                kOurs + "]},{\"matchExpressions\":[" + kOurs +
                R"(],"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}])");
}

TEST(RequireNode, ATermThatMatchesNoNodeStaysSo) {
  Json spec = required(R"([{},{"matchExpressions":[]}])");
  const Json before = spec;
  require_node(spec, kLabel);
  EXPECT_EQ(spec, before);
}

TEST(RequireNode, IsAddedOnceAndKeepsOtherAffinity) {
  Json spec = required(R"([{"matchExpressions":[{"key":"zone","operator":"Exists"}]}])");
  spec["affinity"]["podAntiAffinity"] = {{"x", 1}};
  spec["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] =
      Json::array({Json{{"weight", 1}}});
  require_node(spec, kLabel);
  const Json once = spec;
  require_node(spec, kLabel);
  EXPECT_EQ(spec, once);
  EXPECT_EQ(spec["affinity"]["podAntiAffinity"]["x"], 1);
  EXPECT_EQ(
      spec["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"].size(),
      1u);
}

TEST(PreferNode, AddsOnePreferenceAndRequiresNothing) {
  Json spec = required(R"([{"matchExpressions":[{"key":"zone","operator":"Exists"}]}])");
  const std::string before = terms_of(spec);
  prefer_node(spec, kLabel);
  prefer_node(spec, kLabel);
  EXPECT_EQ(terms_of(spec), before);
  const Json& wishes =
      spec["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"];
  EXPECT_EQ(wishes.dump(), std::string(R"([{"preference":{"matchExpressions":[)") + kOurs +
                               R"(]},"weight":100}])");
}

}  // namespace
}  // namespace paddle::controllers::placement
